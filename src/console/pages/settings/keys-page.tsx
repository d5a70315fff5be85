/** The keys that sign the tokens of programs, for operators. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { RowTable } from '../../parts/simple-table.tsx';
import { ExactTime } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { settingsText } from './settings-text.ts';

export function KeysPage(): ReactNode {
  const text = useText(settingsText);
  const answer = useAnswer('listSigningKeys', {});
  const [isRotating, setRotating] = useState(false);
  return (
    <>
      <PageTitle title={text.keys}>
        <Button onClick={() => setRotating(true)}>{text.rotateKey}</Button>
      </PageTitle>
      <p>{text.keysText}</p>
      <Panel>
        <AnswerView answer={answer}>
          {({ body }) => (
            <RowTable
              label={text.keys}
              rows={body}
              keyOf={({ id }) => id}
              columns={[
                { title: text.id, cell: ({ id }) => id, isMono: true },
                { title: text.algorithm, cell: ({ algorithm }) => algorithm },
                { title: text.created, cell: ({ createdAt }) => <ExactTime at={createdAt} /> },
                { title: text.activates, cell: ({ activatesAt }) => <ExactTime at={activatesAt} /> },
                {
                  title: text.expires,
                  cell: ({ expiresAt }) => (expiresAt === null ? '—' : <ExactTime at={expiresAt} />),
                },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {isRotating ? <RotateKey onClose={() => setRotating(false)} /> : null}
    </>
  );
}

function RotateKey({ onClose }: { readonly onClose: () => void }): ReactNode {
  const text = useText(settingsText);
  const idempotencyKey = useIdempotencyKey();
  const { mutate, error, isPending } = useChange('rotateSigningKey', {
    refreshes: ['signing-key'],
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      title={text.rotateKey}
      isOpen
      onClose={onClose}
      action={text.rotateKey}
      error={error}
      isPending={isPending}
      onConfirm={() => mutate({ idempotencyKey })}
    >
      <p>{text.rotateKeyText}</p>
    </ConfirmDialog>
  );
}
