/** Sessions at the console: one's own, and those of the organization for who administers it. */
import { useState, type ReactNode } from 'react';
import { useSession } from '../../api/session.tsx';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { settingsText } from './settings-text.ts';

export function SessionsPage(): ReactNode {
  const [text, format] = [useText(settingsText), useFormat()];
  const [ended, setEnded] = useState<number>();
  const { may } = useSession();
  const organizationId = useOrganizationId();
  return (
    <ListPage
      title={text.sessions}
      actions={<EndOthers onEnded={setEnded} />}
      intro={
        <>
          <OtherOrganization />
          <p>{text.sessionsText}</p>
          <p role="status">{ended === undefined ? null : text.endedOthers(ended, format.number(ended))}</p>
        </>
      }
      list={useList('listConsoleSessions', may('listPeople') ? { query: { organizationId } } : {})}
      columns={[
        {
          id: 'who',
          title: text.who,
          isName: true,
          share: 1.4,
          cell: ({ name, current }) => (current ? `${name} (${text.thisSession})` : name),
        },
        {
          id: 'from',
          title: text.from,
          width: 8.5,
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
          width: 7,
          sort: 'createdAt',
          cell: ({ createdAt }) => <TimeAgo at={createdAt} />,
        },
        {
          id: 'lastUsed',
          title: text.lastUsed,
          width: 7,
          cell: ({ lastUsedAt }) => <TimeAgo at={lastUsedAt} />,
        },
        { id: 'expires', title: text.expires, width: 6, cell: ({ expiresAt }) => <TimeAgo at={expiresAt} /> },
        {
          id: 'end',
          title: text.end,
          width: 6.75,
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

/** Ends the person's own sessions in all other browsers. */
function EndOthers({ onEnded }: { readonly onEnded: (count: number) => void }): ReactNode {
  const text = useText(settingsText);
  return (
    <ConfirmedAction
      operation="endOtherConsoleSessions"
      input={{}}
      refreshes={['console-session']}
      label={text.endOthers}
      title={text.endOthers}
      size="sm"
      onDone={({ body }) => onEnded(body.ended)}
    >
      <p>{text.endOthersText}</p>
    </ConfirmedAction>
  );
}
