/** Sessions at the console: one's own, and those of the organization for who administers it. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { ListTable, PAGE_SIZE } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useText } from '../../text/language.tsx';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { settingsText } from './settings-text.ts';

type Session = AnswerOf<'listConsoleSessions'>['content'][number];

export function SessionsPage(): ReactNode {
  const text = useText(settingsText);
  const control = useSearchState();
  const { may } = useSession();
  const organizationId = useOrganizationId();
  const [ended, setEnded] = useState<Session | undefined>();
  const close = () => setEnded(undefined);
  const { page, sort } = control.search;
  const list = useAnswer('listConsoleSessions', {
    query: { sort, page: page ?? 0, size: PAGE_SIZE, ...(may('listPeople') ? { organizationId } : {}) },
  });
  const { mutate, error, isPending } = useChange('endConsoleSession', {
    refreshes: ['console-session'],
    onDone: close,
  });
  return (
    <>
      <PageTitle title={text.sessions} />
      <OtherOrganization />
      <p>{text.sessionsText}</p>
      <Panel>
        <AnswerView answer={list}>
          {({ body }) => (
            <ListTable
              label={text.sessions}
              page={body}
              control={control}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: text.who,
                  cell: ({ name, current }) => (current ? `${name} (${text.thisSession})` : name),
                },
                { title: text.from, cell: ({ address }) => <span className="fd-mono">{address}</span> },
                { title: text.browser, cell: ({ browser }) => <span className="fd-small">{browser}</span> },
                { title: text.began, sort: 'createdAt', cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
                { title: text.lastUsed, cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} /> },
                { title: text.expires, cell: ({ expiresAt }) => <TimeAgo at={expiresAt} /> },
                {
                  title: text.end,
                  cell: (session) => (
                    <Button
                      size="compact-sm"
                      variant="default"
                      onClick={() => setEnded(session)}
                      aria-label={`${text.endSession}: ${session.name}, ${session.address}`}
                    >
                      {text.end}
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </AnswerView>
      </Panel>
      {ended === undefined ? null : (
        <ConfirmDialog
          title={text.endSession}
          isOpen
          onClose={close}
          action={text.end}
          error={error}
          isPending={isPending}
          onConfirm={() => mutate({ parameters: { id: ended.id } })}
        >
          <p>{text.endSessionText(ended.name)}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
