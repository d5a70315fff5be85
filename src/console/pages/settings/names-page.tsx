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
        { title: text.name, sort: 'name', cell: ({ name }) => <span className="fd-mono">{name}</span> },
        { title: text.kind, cell: ({ kind }) => text.kindName(kind) },
        {
          title: text.organization,
          cell: ({ organizationId }) => <span className="fd-mono">{organizationId}</span>,
        },
        { title: text.expires, cell: ({ expiresAt }) => <TimeAgo at={expiresAt} /> },
        {
          title: text.release,
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
