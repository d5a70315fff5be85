/** One agent: its state, its shares and its traffic, another name for it, and its end. */
import { Button, Group } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { isApiError } from '../../api/api-error.ts';
import { refreshKind, useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Facts, PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { ExactTime } from '../../parts/time-ago.tsx';
import { reloadOf } from '../../parts/use-edit.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { DeleteAgent, RenameAgent } from './agent-changes.tsx';
import { AgentShares } from './agent-shares.tsx';
import { AgentState, LastSeen } from './agent-state.tsx';
import { AgentTraffic } from './agent-traffic.tsx';
import { agentsText } from './agents-text.ts';

export function AgentPage(): ReactNode {
  const id = useParam('environmentId');
  return <OneAgent key={id} id={id} />;
}

function OneAgent({ id }: { readonly id: string }): ReactNode {
  const text = useText(agentsText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'rename' | 'delete' | undefined>();
  const answer = useAnswer('getEnvironment', { parameters: { frontdoorId, id } });
  const close = () => setDialog(undefined);
  const client = useQueryClient();
  const toList = async () => {
    await navigate({ to: '/frontdoors/$frontdoorId/agents', params: { frontdoorId } });
    // Only then, so that nobody asks for the agent that is gone.
    refreshKind(client, 'environment');
  };
  return (
    <AnswerView answer={answer}>
      {({ body: agent, etag }) => (
        <>
          <PageTitle
            title={agent.name}
            above={
              <Link to="/frontdoors/$frontdoorId/agents" params={{ frontdoorId }}>
                {text.agents}
              </Link>
            }
          >
            <AgentState agent={agent} />
            <Group gap="xs">
              <Button
                variant="default"
                disabled={!may('changeEnvironment')}
                onClick={() => setDialog('rename')}
              >
                {text.rename}
              </Button>
              <Button
                variant="default"
                className="fd-danger"
                disabled={!may('deleteEnvironment')}
                onClick={() => setDialog('delete')}
              >
                {text.remove}
              </Button>
            </Group>
          </PageTitle>
          <AboutAgent agent={agent} />
          <AgentShares agentId={id} />
          <AgentTraffic agentId={id} />
          {dialog === 'rename' ? (
            <RenameAgent now={{ body: agent, etag }} reload={reloadOf(answer)} onClose={close} />
          ) : null}
          {dialog === 'delete' ? (
            <DeleteAgent agent={agent} etag={etag} onClose={close} onDeleted={() => void toList()} />
          ) : null}
        </>
      )}
    </AnswerView>
  );
}

function AboutAgent({ agent }: { readonly agent: AnswerOf<'getEnvironment'> }): ReactNode {
  const [text, parts, format] = [useText(agentsText), useText(partsText), useFormat()];
  const isAway = agent.status === 'INACTIVE';
  return (
    <Panel title={text.about}>
      {isAway ? <p>{agent.lastSeenAt === null ? text.neverSeen : text.away}</p> : null}
      <Facts
        facts={[
          [text.version, <AgentVersion key="version" agentId={agent.id} />],
          [text.lastSeen, <LastSeen key="seen" agent={agent} />],
          [text.address, agent.remoteAddress ?? parts.notKnown],
          [text.shares, format.number(agent.shareCount)],
          [text.created, <ExactTime key="created" at={agent.createdAt} />],
          [text.id, <CopyText key="id" value={agent.id} />],
        ]}
      />
    </Panel>
  );
}

/** Programs of others report no version. */
function AgentVersion({ agentId }: { readonly agentId: string }): ReactNode {
  const parts = useText(partsText);
  const { data, error } = useAnswer('getAgentVersion', {
    parameters: { frontdoorId: useFrontdoorId(), agentId },
  });
  if (isApiError(error, 404)) return parts.notKnown;
  return data?.body.version ?? (error === null ? parts.loading : parts.notKnown);
}
