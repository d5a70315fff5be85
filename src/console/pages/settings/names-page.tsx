/** Resting names, for operators. */
import type { ReactNode } from 'react';
import { ConfirmedAction } from '../../parts/action-button.tsx';
import { ListPage } from '../../parts/list-page.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useList } from '../../parts/use-list.ts';
import { useText } from '../../text/language.tsx';
import { settingsText } from './settings-text.ts';

export function NamesPage(): ReactNode {
  const text = useText(settingsText);
  return (
    <ListPage
      title={text.names}
      intro={<p>{text.namesText}</p>}
      list={useList('listRestingNames', {}, { linked: ['organizationId'] })}
      columns={[
        {
          id: 'name',
          title: text.name,
          isName: true,
          sort: 'name',
          cell: ({ name }) => <span className="fd-mono">{name}</span>,
        },
        { id: 'kind', title: text.kind, width: 10, cell: ({ kind }) => text.kindName(kind) },
        {
          id: 'organization',
          title: text.organization,
          cell: ({ organizationId }) => <span className="fd-mono">{organizationId}</span>,
        },
        { id: 'expires', title: text.expires, width: 8, cell: ({ expiresAt }) => <TimeAgo at={expiresAt} /> },
        {
          id: 'release',
          title: text.release,
          width: 9,
          cell: ({ name }) => (
            <ConfirmedAction
              operation="releaseRestingName"
              input={{ parameters: { name } }}
              refreshes={['resting-name']}
              label={text.release}
              full={`${text.release}: ${name}`}
              title={text.release}
            >
              <p>{text.releaseText(name)}</p>
            </ConfirmedAction>
          ),
        },
      ]}
      keyOf={({ name }) => name}
    />
  );
}
