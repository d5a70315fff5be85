/** The agents of a frontdoor. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { ListTable, PAGE_SIZE, type ListColumn } from '../../parts/list-table.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { listQueryOf, useSearchState } from '../../parts/search-state.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { AgentState, LastSeen } from './agent-state.tsx';
import { AgentsTabs } from './agents-tabs.tsx';
import { agentsText } from './agents-text.ts';

type Agent = AnswerOf<'listAgents'>['content'][number];

export function AgentsPage(): ReactNode {
  const [text, parts] = [useText(agentsText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const control = useSearchState();
  const columns = useColumns(frontdoorId);
  const answer = useAnswer('listAgents', {
    parameters: { frontdoorId },
    query: listQueryOf(control, PAGE_SIZE, 'name', 'status'),
  });
  return (
    <>
      <PageTitle title={text.agents}>
        <AddAgent />
      </PageTitle>
      <AgentsTabs />
      <Panel>
        <Filters control={control}>
          <TextFilter control={control} name="name" label={parts.filterText} />
          <ChoiceFilter
            control={control}
            name="status"
            label={text.state}
            choices={['ACTIVE', 'INACTIVE'].map((value) => ({ value, label: text.states(value) }))}
          />
        </Filters>
        <AnswerView answer={answer}>
          {({ body }) => (
            <ListTable
              label={text.listOfAgents}
              page={body}
              columns={columns}
              keyOf={({ id }) => id}
              control={control}
              empty={<NoAgents />}
            />
          )}
        </AnswerView>
      </Panel>
    </>
  );
}

function useColumns(frontdoorId: string): readonly ListColumn<Agent>[] {
  const [text, parts, format] = [useText(agentsText), useText(partsText), useFormat()];
  return [
    { title: text.state, sort: 'status', cell: (agent) => <AgentState agent={agent} /> },
    {
      title: text.name,
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
    { title: text.version, cell: ({ version }) => version ?? parts.notKnown },
    { title: text.lastSeen, cell: (agent) => <LastSeen agent={agent} /> },
    {
      title: text.address,
      cell: ({ remoteAddress }) => <span className="fd-mono">{remoteAddress ?? parts.notKnown}</span>,
    },
    { title: text.shares, isNumber: true, cell: ({ shareCount }) => format.number(shareCount) },
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

function NoAgents(): ReactNode {
  const text = useText(agentsText);
  const { may } = useSession();
  return (
    <>
      <p>{text.noAgents}</p>
      <p className="fd-soft">{text.noAgentsText}</p>
      {may('createEnrollment') ? <AddAgent /> : <p>{text.askToAdd}</p>}
    </>
  );
}
