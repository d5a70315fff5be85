/** The traffic of a share in a window: as charts, and the same as a table. Window and form stand in the address. */
import { NativeSelect } from '@mantine/core';
import { useMemo, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId, useParam } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Facts, Panel } from '../../parts/page-title.tsx';
import { useSearchState } from '../../parts/search-state.tsx';
import { TimeChart } from '../../parts/time-chart.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { shareTrafficText } from './share-traffic-text.ts';
import { TrafficTable } from './traffic-table.tsx';
import { VisitCommand } from './visit-command.tsx';
import {
  CLASSES,
  countOf,
  latenciesOf,
  mostOf,
  stepMsOf,
  timesOf,
  type ShareSample,
  type StatusClass,
} from './traffic-series.ts';

const DURATIONS = ['PT5M', 'PT1H', 'PT6H', 'P1D', 'P7D', 'P30D'] as const;
const DEFAULT = 'PT1H';
/** No event reports traffic. */
const REFETCH_MS = 30_000;
const LATENCIES = ['p50', 'p95', 'p99'] as const;

const CLASS_LINES: Readonly<
  Record<StatusClass, { readonly color: string; readonly dash?: readonly number[] }>
> = {
  '2xx': { color: '--fd-good' },
  '3xx': { color: '--mantine-color-anchor', dash: [10, 4] },
  '4xx': { color: '--fd-warn', dash: [6, 3] },
  '5xx': { color: '--fd-bad', dash: [2, 2] },
  none: { color: '--fd-soft', dash: [10, 3, 2, 3] },
};
const LATENCY_LINES = {
  p50: { color: '--fd-good' },
  p95: { color: '--fd-warn', dash: [6, 3] },
  p99: { color: '--fd-bad', dash: [2, 2] },
} as const;

export function ShareTrafficPage(): ReactNode {
  const text = useText(shareTrafficText);
  const control = useSearchState();
  const duration = control.textOf('duration') || DEFAULT;
  const view = control.textOf('view');
  const answer = useAnswer(
    'getShareMetrics',
    { parameters: { frontdoorId: useFrontdoorId(), token: useParam('token') }, query: { duration } },
    { refetchMs: REFETCH_MS },
  );
  const set = (name: string, value: string, standard: string) =>
    control.change({ [name]: value === standard ? '' : value }, { replace: true });
  return (
    <>
      <div className="fd-filters">
        <NativeSelect
          label={text.window}
          value={duration}
          onChange={({ currentTarget }) => set('duration', currentTarget.value, DEFAULT)}
          data={DURATIONS.map((value) => ({ value, label: text.windows(value) }))}
        />
        <NativeSelect
          label={text.shownAs}
          value={view === 'table' ? view : 'chart'}
          onChange={({ currentTarget }) => set('view', currentTarget.value, 'chart')}
          data={[
            { value: 'chart', label: text.chart },
            { value: 'table', label: text.table },
          ]}
        />
      </div>
      <AnswerView answer={answer}>
        {({ body }) => (
          <>
            <Totals metrics={body} />
            {view === 'table' ? <TrafficTable samples={body.samples} /> : <Charts metrics={body} />}
          </>
        )}
      </AnswerView>
    </>
  );
}

function Totals({ metrics }: { readonly metrics: AnswerOf<'getShareMetrics'> }): ReactNode {
  const [text, format] = [useText(shareTrafficText), useFormat()];
  const { totals, start, end, samples } = metrics;
  const stepMs = stepMsOf(samples);
  return (
    <Panel title={text.total}>
      {totals.requests === 0 ? (
        <>
          <p className="fd-soft">{text.noTraffic}</p>
          <VisitCommand />
        </>
      ) : null}
      <Facts
        facts={[
          [text.requests, format.number(totals.requests)],
          [text.errors, format.number(totals.errors)],
          [text.errorRate, format.percent(totals.requests === 0 ? 0 : totals.errors / totals.requests)],
          ...LATENCIES.map(
            (name) =>
              [`${text.latency}, ${text.latencies(name)}`, format.duration(totals.latencyMs[name])] as const,
          ),
          [text.received, format.bytes(totals.bytesIn)],
          [text.sent, format.bytes(totals.bytesOut)],
        ]}
      />
      <p className="fd-soft fd-small">
        {text.from(format.dateTime(Date.parse(start)), format.dateTime(Date.parse(end)))}{' '}
        {stepMs === undefined ? null : text.step(format.duration(stepMs))}
      </p>
    </Panel>
  );
}

type TrafficText = (typeof shareTrafficText)['en'];

/** The lines of the three charts. */
function linesOf(samples: readonly ShareSample[], text: TrafficText) {
  return {
    times: timesOf(samples),
    byClass: CLASSES.map((name) => ({
      ...CLASS_LINES[name],
      label: text.classes(name),
      values: samples.map((sample) => countOf(sample, name)),
    })),
    latency: LATENCIES.map((name) => ({
      ...LATENCY_LINES[name],
      label: text.latencies(name),
      values: latenciesOf(samples, name),
    })),
    bytes: [
      { label: text.received, color: '--mantine-color-anchor', values: samples.map((each) => each.bytesIn) },
      { label: text.sent, color: '--fd-good', dash: [6, 3], values: samples.map((each) => each.bytesOut) },
    ],
  };
}

function Charts({ metrics: { samples } }: { readonly metrics: AnswerOf<'getShareMetrics'> }): ReactNode {
  const text = useText(shareTrafficText);
  const format = useFormat();
  const { times, byClass, latency, bytes } = useMemo(() => linesOf(samples, text), [samples, text]);
  const labelOf = (
    title: string,
    lines: readonly { readonly label: string; readonly values: readonly (number | null)[] }[],
    shown: (value: number) => string,
  ) => [title, ...lines.map(({ label, values }) => text.most(label, shown(mostOf(values))))].join('. ');
  return (
    <>
      <Panel title={text.byClass}>
        <TimeChart
          label={labelOf(text.byClass, byClass, format.number)}
          times={times}
          lines={byClass}
          shown={format.number}
        />
      </Panel>
      <Panel title={text.latency}>
        <TimeChart
          label={labelOf(text.latency, latency, format.duration)}
          times={times}
          lines={latency}
          shown={format.duration}
        />
      </Panel>
      <Panel title={text.bytes}>
        <TimeChart
          label={labelOf(text.bytes, bytes, format.bytes)}
          times={times}
          lines={bytes}
          shown={format.bytes}
        />
      </Panel>
    </>
  );
}
