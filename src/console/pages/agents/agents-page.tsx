/** The agents of a frontdoor. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { EmptyCommand } from '../../parts/empty-command.tsx';
import { useNameFilter } from '../../parts/filters.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { EmptyList, ListPage } from '../../parts/list-page.tsx';
import type { ListColumn } from '../../parts/list-table.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useList } from '../../parts/use-list.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { AgentState, LastSeen } from './agent-state.tsx';
import { AgentsTabs } from './agents-tabs.tsx';
import { agentsText } from './agents-text.ts';

type Agent = AnswerOf<'listAgents'>['content'][number];

export function AgentsPage(): ReactNode {
  const text = useText(agentsText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  const states = ['ACTIVE', 'INACTIVE'].map((value) => ({ value, label: text.states(value) }));
  const filters = [useNameFilter(), { name: 'status', label: text.state, by: states }];
  return (
    <ListPage
      title={text.agents}
      label={text.listOfAgents}
      actions={<AddAgent />}
      intro={<AgentsTabs />}
      list={useList('listAgents', { parameters: { frontdoorId } }, { filters })}
      columns={useColumns(frontdoorId)}
      keyOf={({ id }) => id}
      empty={
        <EmptyList title={text.noAgents} text={text.noAgentsText}>
          {may('createEnrollment') ? (
            <>
              <AddAgent />
              <EmptyCommand kind="agent" />
            </>
          ) : (
            <p>{text.askToAdd}</p>
          )}
        </EmptyList>
      }
    />
  );
}

function useColumns(frontdoorId: string): readonly ListColumn<Agent>[] {
  const [text, parts, format] = [useText(agentsText), useText(partsText), useFormat()];
  return [
    {
      id: 'state',
      title: text.state,
      width: 8,
      sort: 'status',
      cell: (agent) => <AgentState agent={agent} />,
    },
    {
      id: 'name',
      title: text.name,
      isName: true,
      share: 1.4,
      sort: 'name',
      cell: ({ id, name }) => (
        <Link
          to="/frontdoors/$frontdoorId/agents/$environmentId"
          params={{ frontdoorId, environmentId: id }}
          className="fd-name"
        >
          {name}
        </Link>
      ),
    },
    { id: 'version', title: text.version, width: 8, cell: ({ version }) => version ?? parts.notKnown },
    { id: 'lastSeen', title: text.lastSeen, width: 9, cell: (agent) => <LastSeen agent={agent} /> },
    {
      id: 'address',
      title: text.address,
      cell: ({ remoteAddress }) => <span className="fd-mono">{remoteAddress ?? parts.notKnown}</span>,
    },
    {
      id: 'shares',
      title: text.shares,
      width: 6,
      isNumber: true,
      cell: ({ shareCount }) => format.number(shareCount),
    },
  ];
}

function AddAgent(): ReactNode {
  const text = useText(agentsText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  if (!may('createEnrollment')) return null;
  return (
    <LinkButton to="/frontdoors/$frontdoorId/agents/new" params={{ frontdoorId }}>
      {text.add}
    </LinkButton>
  );
}
