/** Which agents have the traffic of the last hour, the busiest first. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { SimpleTable } from '../../parts/simple-table.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { overviewText } from './overview-text.ts';

const SHOWN = 5;
const METRICS_MS = 30_000;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export function Busiest({ frontdoorId }: { readonly frontdoorId: string }): ReactNode {
  const [text, format] = [useText(overviewText), useFormat()];
  const answer = useAnswer(
    'getFrontdoorSparklines',
    { parameters: { frontdoorId }, query: { duration: 'PT1H', busiest: SHOWN } },
    { refetchMs: METRICS_MS },
  );
  return (
    <AnswerView answer={answer}>
      {({ body }) => {
        const agents = body.sparklines.filter(({ scope }) => scope === 'environment');
        if (agents.length === 0) return null;
        return (
          <Panel title={text.busiest}>
            <SimpleTable
              label={text.busiest}
              head={[text.agent, text.lastHour, text.traffic]}
              rows={agents.map(({ id, name, requests, errors }) => {
                const [all, failed] = [sum(requests), sum(errors)];
                return [
                  <Link
                    key="agent"
                    to="/frontdoors/$frontdoorId/agents/$environmentId"
                    params={{ frontdoorId, environmentId: id }}
                  >
                    {name}
                  </Link>,
                  `${text.requests(all, format.number(all))}, ${text.errors(failed, format.number(failed))}`,
                  <Sparkline
                    key="line"
                    values={requests}
                    label={text.trafficLine(format.number(all), format.number(Math.max(...requests)))}
                  />,
                ];
              })}
            />
          </Panel>
        );
      }}
    </AnswerView>
  );
}
