/** Sessions at the console: one's own, and those of the organization for who administers it. */
import type { ReactNode } from 'react';
import { useSession } from '../../api/session.tsx';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { settingsText } from './settings-text.ts';

export function SessionsPage(): ReactNode {
  const text = useText(settingsText);
  const { may } = useSession();
  const organizationId = useOrganizationId();
  return (
    <ListPage
      title={text.sessions}
      intro={
        <>
          <OtherOrganization />
          <p>{text.sessionsText}</p>
        </>
      }
      list={useList('listConsoleSessions', may('listPeople') ? { query: { organizationId } } : {})}
      columns={[
        {
          id: 'who',
          title: text.who,
          isName: true,
          cell: ({ name, current }) => (current ? `${name} (${text.thisSession})` : name),
        },
        {
          id: 'from',
          title: text.from,
          width: 9,
          cell: ({ address }) => <span className="fd-mono">{address}</span>,
        },
        {
          id: 'browser',
          title: text.browser,
          cell: ({ browser }) => <span className="fd-small">{browser}</span>,
        },
        {
          id: 'began',
          title: text.began,
          width: 8,
          sort: 'createdAt',
          cell: ({ createdAt }) => <TimeAgo at={createdAt} />,
        },
        {
          id: 'lastUsed',
          title: text.lastUsed,
          width: 8,
          cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} />,
        },
        { id: 'expires', title: text.expires, width: 8, cell: ({ expiresAt }) => <TimeAgo at={expiresAt} /> },
        {
          id: 'end',
          title: text.end,
          width: 7,
          cell: ({ id, name, address }) => (
            <ConfirmedAction
              operation="endConsoleSession"
              input={{ parameters: { id } }}
              refreshes={['console-session']}
              label={text.end}
              full={`${text.endSession}: ${name}, ${address}`}
              title={text.endSession}
            >
              <p>{text.endSessionText(name)}</p>
            </ConfirmedAction>
          ),
        },
      ]}
      keyOf={({ id }) => id}
    />
  );
}
