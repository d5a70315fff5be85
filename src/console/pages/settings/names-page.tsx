/** Resting names, for operators. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { settingsText } from './settings-text.ts';

export function NamesPage(): ReactNode {
  const text = useText(settingsText);
  const control = useSearchState();
  const [released, setReleased] = useState<string | undefined>();
  const close = () => setReleased(undefined);
  const { page, sort } = control.search;
  const list = useAnswer('listRestingNames', {
    query: { organizationId: control.textOf('organizationId'), sort, page: page ?? 0, size: PAGE_SIZE },
  });
  const { mutate, error, isPending } = useChange('releaseRestingName', {
    refreshes: ['resting-name'],
    onDone: close,
  });
  return (
    <>
      <PageTitle title={text.names} />
      <p>{text.namesText}</p>
      <Panel>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.names}
              page={body}
              control={control}
              keyOf={({ name }) => name}
              columns={[
                {
                  title: text.name,
                  sort: 'name',
                  cell: ({ name }) => <span className="fd-mono">{name}</span>,
                },
                { title: text.kind, cell: ({ kind }) => text.kindName(kind) },
                {
                  title: text.organization,
                  cell: ({ organizationId }) => <span className="fd-mono">{organizationId}</span>,
                },
                { title: text.expires, cell: ({ expiresAt }) => <TimeAgo at={expiresAt} /> },
                {
                  title: text.release,
                  cell: ({ name }) => (
                    <Button
                      size="compact-sm"
                      variant="default"
                      onClick={() => setReleased(name)}
                      aria-label={`${text.release}: ${name}`}
                    >
                      {text.release}
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {released === undefined ? null : (
        <ConfirmDialog
          title={text.release}
          isOpen
          onClose={close}
          action={text.release}
          error={error}
          isPending={isPending}
          onConfirm={() => mutate({ parameters: { name: released } })}
        >
          <p>{text.releaseText(released)}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
