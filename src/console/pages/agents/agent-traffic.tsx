/** The traffic of an agent's shares in a window, which stands in the address. */
import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { agentsText } from './agents-text.ts';

const DURATIONS = ['PT1H', 'PT6H', 'P1D', 'P7D', 'P30D'] as const;
/** No event reports traffic. */
const REFETCH_MS = 30_000;

export function AgentTraffic({ agentId }: { readonly agentId: string }): ReactNode {
  const [text, format] = [useText(agentsText), useFormat()];
  const control = useSearchState();
  const duration = control.textOf('duration') || DURATIONS[0];
  const answer = useAnswer(
    'getEnvironmentMetrics',
    { parameters: { frontdoorId: useFrontdoorId(), id: agentId }, query: { duration } },
    { refetchMs: REFETCH_MS },
  );
  return (
    <Panel
      title={text.traffic}
      actions={
        <NativeSelect
          aria-label={text.window}
          value={duration}
          onChange={({ currentTarget }) =>
            control.change({ duration: currentTarget.value === DURATIONS[0] ? '' : currentTarget.value })
          }
          data={DURATIONS.map((value) => ({ value, label: text.windows(value) }))}
        />
      }
    >
      <AnswerView answer={answer}>
        {({ body: { totals, samples } }) => {
          if (totals.requests === 0) return <p className="fd-soft">{text.noTraffic}</p>;
          const counts = samples.map(({ requests }) => requests);
          const { p50, p95, p99 } = totals.latencyMs;
          return (
            <>
              <Sparkline
                isWide
                values={counts}
                label={text.requestsLine(format.number(totals.requests), format.number(Math.max(...counts)))}
              />
              <Facts
                facts={[
                  [text.requests, format.number(totals.requests)],
                  [text.errors, format.number(totals.errors)],
                  [text.received, format.bytes(totals.bytesIn)],
                  [text.sent, format.bytes(totals.bytesOut)],
                  [text.latency, [p50, p95, p99].map((ms) => format.duration(ms)).join(' · ')],
                ]}
              />
            </>
          );
        }}
      </AnswerView>
    </Panel>
  );
}
