/** The traffic of a window: over time, by class of status, with latencies, and the shares that have most of it. */
import { SegmentedControl } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { BusiestSharesAnswer, FrontdoorMetricsAnswer } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { RowTable } from '../../parts/simple-table.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { overviewText } from './overview-text.ts';
import { rangeOf, RANGES } from './overview-range.ts';
import { TrafficBars } from './traffic-bars.tsx';

const SHOWN = 5;

export function Traffic({ frontdoorId }: { readonly frontdoorId: string }): ReactNode {
  const text = useText(overviewText);
  const control = useSearchState();
  const { name, duration, step, refetchMs } = rangeOf(control);
  const parameters = { frontdoorId };
  const metrics = useAnswer('getFrontdoorMetrics', { parameters, query: { duration, step } }, { refetchMs });
  const busiest = useAnswer(
    'getBusiestShares',
    { parameters, query: { duration, step, top: SHOWN } },
    { refetchMs },
  );
  return (
    <Panel
      title={text.traffic}
      actions={
        <SegmentedControl
          aria-label={text.range}
          value={name}
          onChange={(range) => control.change({ range: range === RANGES[0]!.name ? '' : range })}
          data={RANGES.map((range) => ({ value: range.name, label: text.ranges(range.name) }))}
        />
      }
    >
      <div className="fd-reserve-traffic">
        <AnswerView answer={metrics}>{({ body }) => <Totals metrics={body} />}</AnswerView>
      </div>
      <h3 className="fd-h3">{text.busiest}</h3>
      <div className="fd-reserve-rows">
        <AnswerView answer={busiest}>
          {({ body }) => <Busiest frontdoorId={frontdoorId} shares={body.shares} />}
        </AnswerView>
      </div>
    </Panel>
  );
}

function Totals({ metrics: { totals, samples } }: { readonly metrics: FrontdoorMetricsAnswer }): ReactNode {
  const [text, format] = [useText(overviewText), useFormat()];
  const { requests, errors, status2xx, status3xx, status4xx, status5xx, latencyMs } = totals;
  const most = format.number(Math.max(0, ...samples.map((sample) => sample.requests)));
  const share = (count: number) => (requests === 0 ? '' : ` (${format.percent(count / requests)})`);
  const figure = (count: number) => `${format.number(count)}${share(count)}`;
  const time = (ms: number) => (requests === 0 ? '–' : format.duration(ms));
  const facts: readonly (readonly [string, string])[] = [
    [text.requestCount, format.number(requests)],
    [text.errorCount, figure(errors)],
    ['2xx', figure(status2xx)],
    ['3xx', figure(status3xx)],
    ['4xx', figure(status4xx)],
    ['5xx', figure(status5xx)],
    ['p50', time(latencyMs.p50)],
    ['p95', time(latencyMs.p95)],
    ['p99', time(latencyMs.p99)],
    [text.bytesIn, format.bytes(totals.bytesIn)],
    [text.bytesOut, format.bytes(totals.bytesOut)],
  ];
  return (
    <>
      <TrafficBars samples={samples} label={text.trafficLine(format.number(requests), most)} />
      <dl className="fd-figures">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Busiest({
  frontdoorId,
  shares,
}: {
  readonly frontdoorId: string;
  readonly shares: BusiestSharesAnswer['shares'];
}): ReactNode {
  const [text, format] = [useText(overviewText), useFormat()];
  if (shares.length === 0) return <p className="fd-soft">{text.noTraffic}</p>;
  return (
    <RowTable
      label={text.busiest}
      rows={shares}
      keyOf={({ token }) => token}
      columns={[
        {
          title: text.share,
          cell: ({ token, name }) => (
            <Link
              className="fd-name"
              to="/frontdoors/$frontdoorId/shares/$token/traffic"
              params={{ frontdoorId, token }}
            >
              {name ?? token}
            </Link>
          ),
        },
        { title: text.requestCount, isNumber: true, cell: ({ requests }) => format.number(requests) },
        { title: '4xx', isNumber: true, cell: ({ status4xx }) => format.number(status4xx) },
        { title: text.errorCount, isNumber: true, cell: ({ errors }) => format.number(errors) },
        { title: 'p95', isNumber: true, cell: ({ latencyMs }) => format.duration(latencyMs.p95) },
      ]}
    />
  );
}
