/** Why one request failed: the hop, the cause, what to do, and how long each step took. */
import type { ReactNode } from 'react';
import type { FailureAnswer } from '#contract/schemas';
import { ApiText } from '../../parts/api-text.tsx';
import { CopyText } from '../../parts/copy-text.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { ExactTime } from '../../parts/time-ago.tsx';
import { Way } from '../../parts/way.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { failedWay } from './failed-way.ts';
import { failuresText } from './failures-text.ts';

/** Failures of hosts without a share have no share, decision and identity. */
type AnyFailure = Omit<FailureAnswer, 'shareToken' | 'decision' | 'identity'> & Partial<FailureAnswer>;

export function FailureFacts({ failure }: { readonly failure: AnyFailure }): ReactNode {
  const text = useText(failuresText);
  const { hop, cause, remedy, code, at, method, host, path, client, identity, decision, status, traceId } =
    failure;
  const states = {
    works: text.passed,
    refused: text.refused,
    broken: text.broke,
    unknown: text.notReached,
  };
  const hops = failedWay(hop, status).map((part) => ({
    id: part.hop,
    name: text.hopName(part.hop),
    state: part.state,
    stateText: states[part.state],
  }));
  return (
    <>
      <Panel title={text.way}>
        <Way hops={hops} label={text.way} />
      </Panel>
      <Panel title={text.cause}>
        <p>
          <ApiText code={code} keepsOriginal>
            {cause}
          </ApiText>
        </p>
        <p>
          <strong>{text.remedy}:</strong>{' '}
          <ApiText code={code} kind="remedy">
            {remedy}
          </ApiText>
        </p>
        <Facts
          facts={[
            [text.when, <ExactTime key="at" at={at} />],
            [text.request, <CopyText key="request" value={`${method} ${host}${path}`} />],
            [text.status, status === 0 ? text.noStatus : String(status)],
            [
              text.code,
              <span key="code" className="fd-mono">
                {code}
              </span>,
            ],
            ...(decision === undefined || decision === code ? [] : [[text.decision, decision] as const]),
            ...(identity === undefined ? [] : [[text.identity, identity ?? text.nobody] as const]),
            [
              text.client,
              <span key="client" className="fd-mono">
                {client}
              </span>,
            ],
            ...(traceId === null ? [] : [[text.trace, <CopyText key="trace" value={traceId} />] as const]),
          ]}
        />
      </Panel>
      <Panel title={text.timings}>
        <Timings timings={failure.timingsMs} />
      </Panel>
    </>
  );
}

function Timings({ timings }: { readonly timings: FailureAnswer['timingsMs'] }): ReactNode {
  const [text, format] = [useText(failuresText), useFormat()];
  return (
    <Facts
      facts={Object.entries(timings).map(([name, ms]) => [
        text.timing(name),
        ms === null ? text.notThatFar : format.duration(ms),
      ])}
    />
  );
}
