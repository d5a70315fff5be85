/** The keys that sign the tokens of programs, for operators. */
import { Button, Table } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange, useIdempotencyKey } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
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
            <div className="fd-scroll" tabIndex={0} role="region" aria-label={text.keys}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{text.id}</Table.Th>
                    <Table.Th>{text.algorithm}</Table.Th>
                    <Table.Th>{text.created}</Table.Th>
                    <Table.Th>{text.activates}</Table.Th>
                    <Table.Th>{text.expires}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {body.map((key) => (
                    <Table.Tr key={key.id}>
                      <Table.Td className="fd-mono">{key.id}</Table.Td>
                      <Table.Td>{key.algorithm}</Table.Td>
                      <Table.Td>
                        <ExactTime at={key.createdAt} />
                      </Table.Td>
                      <Table.Td>
                        <ExactTime at={key.activatesAt} />
                      </Table.Td>
                      <Table.Td>{key.expiresAt === null ? '—' : <ExactTime at={key.expiresAt} />}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </div>
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
