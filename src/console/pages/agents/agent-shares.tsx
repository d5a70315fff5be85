/** The shares of an agent with their state. */
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
import { RowTable } from '../../parts/simple-table.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { ShareState } from '../shares/share-state.tsx';
import { agentsText } from './agents-text.ts';

const MAX_SHOWN = 50;
/** Shares that do not work stand first. */
const SORT = 'status,desc';

type ListedShares = AnswerOf<'listShares'>;
type ShareStatus = ListedShares['content'][number]['status'];

export function AgentShares({ agentId }: { readonly agentId: string }): ReactNode {
  const text = useText(agentsText);
  const { may } = useSession();
  const frontdoorId = useFrontdoorId();
  const answer = useAnswer('listShares', {
    parameters: { frontdoorId },
    query: { environmentId: agentId, size: MAX_SHOWN, sort: SORT },
  });
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
          body.content.length === 0 ? (
            <p className="fd-soft">{text.noShares}</p>
          ) : (
            <SharesTable agentId={agentId} listed={body} />
          )
        }
      </AnswerView>
    </Panel>
  );
}

/** Undefined until it is known. The API counts the shares of a list that is not here as a whole. */
function useCount(agentId: string, listed: ListedShares, status: ShareStatus): number | undefined {
  const isWhole = listed.totalElements <= listed.content.length;
  const counted = useAnswer(
    'listShares',
    { parameters: { frontdoorId: useFrontdoorId() }, query: { environmentId: agentId, status, size: 1 } },
    { enabled: !isWhole },
  );
  return isWhole
    ? listed.content.filter((share) => share.status === status).length
    : counted.data?.body.totalElements;
}

function SharesTable(props: { readonly agentId: string; readonly listed: ListedShares }): ReactNode {
  const [text, format] = [useText(agentsText), useFormat()];
  const frontdoorId = useFrontdoorId();
  const { listed, agentId } = props;
  const counts = [
    useCount(agentId, listed, 'DEPLOYED'),
    useCount(agentId, listed, 'FAILED'),
    useCount(agentId, listed, 'PENDING'),
  ];
  const [works, fails, waits] = counts.map((count) => (count === undefined ? '…' : format.number(count)));
  return (
    <>
      <p className="fd-soft">{text.sharesByState(works!, fails!, waits!)}</p>
      <RowTable
        label={text.sharesOfAgent}
        rows={listed.content}
        keyOf={({ token }) => token}
        columns={[
          { title: text.state, cell: ({ status }) => <ShareState status={status} /> },
          {
            title: text.token,
            cell: ({ token }) => (
              <Link
                to="/frontdoors/$frontdoorId/shares/$token"
                params={{ frontdoorId, token }}
                className="fd-name"
              >
                {token}
              </Link>
            ),
          },
          {
            title: text.address,
            cell: ({ frontendEndpoints: [url] }) =>
              url === undefined ? null : <CopyText value={url} href={url} />,
          },
          { title: text.target, cell: ({ backendEndpoint }) => backendEndpoint, isMono: true },
        ]}
      />
      {listed.totalElements > MAX_SHOWN ? (
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
