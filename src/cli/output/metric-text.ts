/** Metrics and sparklines for people: totals, and the window as bars. --json has all samples. */
import { printable } from '#base/terminal';
import type {
  BusiestSharesAnswer,
  EnvironmentMetricsAnswer,
  FrontdoorMetricsAnswer,
  SparklinesAnswer,
} from '#contract/schemas';
import { recordText } from './record-text.ts';
import { sparkline } from './sparkline.ts';

/** Bars per line, which fit a terminal of any width. */
const MAX_BARS = 60;

export function metricsText(answer: FrontdoorMetricsAnswer | EnvironmentMetricsAnswer): string {
  const { samples, totals, ...window } = answer;
  const requests = grouped(samples.map((sample) => sample.requests));
  const errors = grouped(samples.map((sample) => sample.errors));
  return (
    recordText({ ...window, ...totals }) +
    `\nrequests  ${sparkline(requests)}  at most ${Math.max(0, ...requests)}\n` +
    `errors    ${sparkline(errors)}  at most ${Math.max(0, ...errors)}\n`
  );
}

/** Adds up neighbouring samples until the bars fit into a line. */
function grouped(values: readonly number[]): number[] {
  const width = Math.ceil(values.length / MAX_BARS);
  return Array.from({ length: width === 0 ? 0 : Math.ceil(values.length / width) }, (_, index) =>
    sum(values.slice(index * width, (index + 1) * width)),
  );
}

export function sparklinesText({ sparklines, duration, step, start }: SparklinesAnswer): string {
  const names = sparklines.map(({ scope, name }) => `${scope} ${printable(name)}`);
  const width = Math.max(0, ...names.map((name) => name.length));
  const lines = sparklines.map(
    ({ requests, errors }, index) =>
      `${names[index]!.padEnd(width)}  ${sparkline(requests)} ${sum(requests)} requests` +
      `${sum(errors) === 0 ? '' : `  ${sparkline(errors)} ${sum(errors)} errors`}\n`,
  );
  return `${duration} in steps of ${step}, from ${start}\n${lines.join('')}`;
}

/** One line a share, the busiest first. */
export function busiestText({ shares, duration, start, end }: BusiestSharesAnswer): string {
  if (shares.length === 0) return `no requests in ${duration}\n`;
  const names = shares.map(({ token }) => printable(token));
  const width = Math.max(...names.map((name) => name.length));
  const lines = shares.map(
    ({ requests, errors, status4xx, latencyMs }, index) =>
      `${names[index]!.padEnd(width)}  ${requests} requests  ${errors} errors  ${status4xx} with 4xx  p95 ${latencyMs.p95} ms\n`,
  );
  return `${duration}, from ${start} to ${end}\n${lines.join('')}`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
