/** One request of the log: its path hop by hop, why it ended as it did, how long each step took, and requests like it. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { LoggedRequestAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ApiText } from '../../parts/api-text.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/page-title.tsx';
import { ExactTime } from '../../parts/time-ago.tsx';
import { Way } from '../../parts/way.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { failedWay } from '../failures/failed-way.ts';
import { failuresText } from '../failures/failures-text.ts';
import { Outcome } from './logged-request-table.tsx';
import { requestLogText } from './request-log-text.ts';

const SERVED = ['client', 'gateway', 'router', 'agent', 'service'] as const;

export function LoggedRequestDialog(props: {
  readonly requestId: string;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(requestLogText);
  const { requestId } = props;
  const answer = useAnswer('getRequest', { parameters: { frontdoorId: useFrontdoorId(), requestId } });
  return (
    <Dialog title={text.request} isOpen onClose={props.onClose} size="xl" closesOutside>
      <AnswerView answer={answer}>
        {({ body }) => (
          <>
            <Hops request={body} />
            <RequestFacts request={body} />
            <Alike request={body} />
          </>
        )}
      </AnswerView>
    </Dialog>
  );
}

function Hops({ request: { hop, status, outcome } }: { readonly request: LoggedRequestAnswer }): ReactNode {
  const text = useText(failuresText);
  // A client that is gone got no further than is known.
  if (hop === null && outcome !== 'served') return null;
  const states = { works: text.passed, refused: text.refused, broken: text.broke, unknown: text.notReached };
  const way =
    hop === null ? SERVED.map((known) => ({ hop: known, state: 'works' as const })) : failedWay(hop, status);
  return (
    <Way
      label={text.way}
      hops={way.map((part) => ({
        id: part.hop,
        name: text.hopName(part.hop),
        state: part.state,
        stateText: states[part.state],
      }))}
    />
  );
}

function RequestFacts({ request }: { readonly request: LoggedRequestAnswer }): ReactNode {
  const [text, ofFailure, format] = [useText(requestLogText), useText(failuresText), useFormat()];
  const { method, host, path, status, cause, remedy, code, traceId, authProviderId } = request;
  const optional = (name: string, value: string | null): (readonly [string, ReactNode])[] =>
    value === null ? [] : [[name, <CopyText key={name} value={value} />]];
  return (
    <Facts
      facts={[
        [text.request, <CopyText key="request" value={`${method} ${host}${path}`} />],
        [text.at, <ExactTime key="at" at={request.at} />],
        [text.outcome, <Outcome key="outcome" outcome={request.outcome} />],
        [text.status, status === 0 ? text.noStatus : String(status)],
        ...(cause === null ? [] : [[text.cause, <ApiText key="cause">{cause}</ApiText>] as const]),
        ...(remedy === null ? [] : [[text.remedy, <ApiText key="remedy">{remedy}</ApiText>] as const]),
        [text.decision, code === null ? request.decision : code],
        [text.caller, request.caller ?? text.nobody],
        [text.client, <CopyText key="client" value={request.client} />],
        ...optional(text.provider, authProviderId),
        [text.received, format.bytes(request.bytesIn)],
        [text.sent, format.bytes(request.bytesOut)],
        ...Object.entries(request.timingsMs).map(
          ([name, ms]) =>
            [ofFailure.timing(name), ms === null ? ofFailure.notThatFar : format.duration(ms)] as const,
        ),
        ...optional(text.trace, traceId),
        [text.id, <CopyText key="id" value={request.id} />],
      ]}
    />
  );
}

function Alike({ request }: { readonly request: LoggedRequestAnswer }): ReactNode {
  const text = useText(requestLogText);
  const frontdoorId = useFrontdoorId();
  const { id, shareToken, client, caller, code } = request;
  const to = '/frontdoors/$frontdoorId/requests';
  const params = { frontdoorId };
  return (
    <>
      <p>
        <Link to={to} params={params} search={{ shareToken }}>
          {text.ofShare}
        </Link>
      </p>
      <p>
        <Link to={to} params={params} search={{ client }}>
          {text.ofClient}
        </Link>
      </p>
      {caller === null ? null : (
        <p>
          <Link to={to} params={params} search={{ caller }}>
            {text.ofCaller}
          </Link>
        </p>
      )}
      {code === null ? null : (
        <p>
          <Link to="/frontdoors/$frontdoorId/failures/$errorId" params={{ frontdoorId, errorId: id }}>
            {text.explain}
          </Link>
        </p>
      )}
    </>
  );
}
