/** The shares of an agent with their state. */
import { Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { ShareState } from '../shares/share-state.tsx';
import { agentsText } from './agents-text.ts';

const MAX_SHOWN = 50;
/** What needs attention stands first. */
const RANKS: Readonly<Record<string, number>> = { FAILED: 0, PENDING: 1, DEPLOYED: 2 };

type StatedShare = AnswerOf<'getAgentStatus'>['shares'][number];

export function AgentShares({ agentId }: { readonly agentId: string }): ReactNode {
  const text = useText(agentsText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  const answer = useAnswer('getAgentStatus', { parameters: { frontdoorId, agentId } });
  return (
    <Panel
      title={text.sharesOfAgent}
      actions={
        may('createShare') ? (
          <LinkButton
            variant="default"
            to="/frontdoors/$frontdoorId/shares/new"
            params={{ frontdoorId }}
            search={{ environmentId: agentId }}
          >
            {text.publish}
          </LinkButton>
        ) : null
      }
    >
      <AnswerView answer={answer}>
        {({ body }) =>
          body.shares.length === 0 ? (
            <p className="fd-soft">{text.noShares}</p>
          ) : (
            <SharesTable agentId={agentId} shares={body.shares} />
          )
        }
      </AnswerView>
    </Panel>
  );
}

function SharesTable(props: {
  readonly agentId: string;
  readonly shares: readonly StatedShare[];
}): ReactNode {
  const [text, format] = [useText(agentsText), useFormat()];
  const frontdoorId = useFrontdoorId();
  const { shares, agentId } = props;
  const countOf = (status: string) => format.number(shares.filter((share) => share.status === status).length);
  const rankOf = ({ status }: StatedShare) => RANKS[status] ?? 0;
  const shown = shares
    .toSorted((a, b) => rankOf(a) - rankOf(b) || (a.token < b.token ? -1 : 1))
    .slice(0, MAX_SHOWN);
  return (
    <>
      <p className="fd-soft">
        {text.sharesByState(countOf('DEPLOYED'), countOf('FAILED'), countOf('PENDING'))}
      </p>
      <div className="fd-scroll" tabIndex={0} role="region" aria-label={text.sharesOfAgent}>
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{text.state}</Table.Th>
              <Table.Th>{text.token}</Table.Th>
              <Table.Th>{text.address}</Table.Th>
              <Table.Th>{text.target}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map(({ token, status, frontendEndpoints: [url], backendEndpoint }) => (
              <Table.Tr key={token}>
                <Table.Td>
                  <ShareState status={status} />
                </Table.Td>
                <Table.Td>
                  <Link
                    to="/frontdoors/$frontdoorId/shares/$token"
                    params={{ frontdoorId, token }}
                    className="fd-name"
                  >
                    {token}
                  </Link>
                </Table.Td>
                <Table.Td>{url === undefined ? null : <CopyText value={url} href={url} />}</Table.Td>
                <Table.Td className="fd-mono">{backendEndpoint}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {shares.length > MAX_SHOWN ? (
        <p>
          {text.firstShares(format.number(MAX_SHOWN))}{' '}
          <Link
            to="/frontdoors/$frontdoorId/shares"
            params={{ frontdoorId }}
            search={{ environmentId: agentId }}
          >
            {text.allShares}
          </Link>
        </p>
      ) : null}
    </>
  );
}
