/** Tables for people: figures of a run, goals, and two runs side by side. */
import type { BenchResult, Measured } from './bench-result.ts';
import type { Figure } from './figure.ts';
import { GOALS, isReached } from './goal-table.ts';

const REFERENCE = 'nginx proxy';

export function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  ');
  return rows.map((row) => `  ${line(row)}\n`).join('');
}

export function short(value: number): string {
  if (value >= 1_000) return Math.round(value).toLocaleString('en-US');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function spread(figure: Figure | undefined, scale: number): string {
  if (figure === undefined) return '';
  return `${short(figure.median * scale)} (${short(figure.min * scale)} to ${short(figure.max * scale)})`;
}

function ratioOf(
  measured: Measured,
  reference: Measured | undefined,
  field: 'rate' | 'p50Us' | 'p99Us',
): string {
  const [ours, theirs] = [measured[field]?.median, reference?.[field]?.median];
  return ours === undefined || theirs === undefined ? '' : (ours / theirs).toFixed(2);
}

function cpuText({ cpuUs }: Measured): string {
  return Object.entries(cpuUs)
    .map(([name, us]) => `${name} ${short(us)}`)
    .join(', ');
}

/** What a scenario counts: its rate, its scale, and what CPU time is told per. */
export interface RateUnit {
  readonly rate: string;
  readonly scale: number;
  readonly each: string;
}

export const REQUESTS: RateUnit = { rate: 'requests/s', scale: 1, each: 'request' };
export const MEGABYTES: RateUnit = { rate: 'MB/s', scale: 1e-6, each: 'MB' };

export function scenarioText(
  name: string,
  targets: Readonly<Record<string, Measured>>,
  unit: RateUnit = name === 'download' ? MEGABYTES : REQUESTS,
): string {
  const reference = targets[REFERENCE];
  const rows = [['', unit.rate, '×', 'p50 ms', '×', 'p99 ms', '×', `CPU µs per ${unit.each}`]];
  for (const [target, measured] of Object.entries(targets)) {
    rows.push([
      target,
      spread(measured.rate, unit.scale),
      ratioOf(measured, reference, 'rate'),
      spread(measured.p50Us, 1e-3),
      ratioOf(measured, reference, 'p50Us'),
      spread(measured.p99Us, 1e-3),
      ratioOf(measured, reference, 'p99Us'),
      cpuText(measured),
    ]);
  }
  const kept = rows[0]!.map((_, column) => column < 3 || rows.slice(1).some((row) => row[column] !== ''));
  return `\n${name}\n${table(rows.map((row) => row.filter((_, column) => kept[column])))}`;
}

export function shapeText(result: BenchResult): string {
  const rows = [['', 'start to first request', 'idle memory, MB', 'after load, MB', 'per idle connection']];
  const memory = (bytes: Readonly<Record<string, number>>): string =>
    Object.entries(bytes)
      .map(([name, value]) => `${name} ${Math.round(value / 1e6)}`)
      .join(', ');
  for (const [shape, facts] of Object.entries(result.shapes)) {
    rows.push([
      shape,
      `${(facts.firstRequestMs / 1000).toFixed(2)} s`,
      memory(facts.idleBytes),
      memory(facts.afterLoadBytes),
      `${(facts.bytesPerIdleConnection / 1024).toFixed(1)} KiB`,
    ]);
  }
  return rows.length === 1 ? '' : `\nprocesses\n${table(rows)}`;
}

/** The goals for one shape of the product, with what was reached. */
export function goalText(result: BenchResult, shape: string): string {
  const rows = [['goal', 'wanted', 'measured', '']];
  for (const goal of GOALS) {
    const value = goal.value(result, shape);
    if (value === undefined) continue;
    const wanted = `${goal.sense === 'least' ? '≥' : '≤'} ${goal.limit} ${goal.unit}`;
    rows.push([
      goal.name,
      wanted,
      `${short(value)} ${goal.unit}`,
      isReached(goal, value) ? 'reached' : 'MISSED',
    ]);
  }
  return `\ngoals, ${shape} (× is the ratio to nginx as reverse proxy, medians)\n${table(rows)}`;
}

/** Two results: the ratios to the reference of their own run, which is all that two runs have in common. */
export function compareText(older: BenchResult, newer: BenchResult): string {
  let text = `${older.startedAt} → ${newer.startedAt}; ratios to ${REFERENCE} of the same run\n`;
  if (older.machine.model !== newer.machine.model) text += 'the machines differ: compare with care\n';
  for (const [scenario, targets] of Object.entries(newer.scenarios)) {
    const rows = [['', 'rate ×', 'p50 ×', 'p99 ×', 'CPU µs']];
    for (const [target, measured] of Object.entries(targets)) {
      const before = older.scenarios[scenario]?.[target];
      if (before === undefined) continue;
      const references = [older.scenarios[scenario]?.[REFERENCE], targets[REFERENCE]] as const;
      const pair = (field: 'rate' | 'p50Us' | 'p99Us'): string =>
        [ratioOf(before, references[0], field), ratioOf(measured, references[1], field)].join(' → ');
      const total = ({ cpuUs }: Measured): string =>
        short(Object.values(cpuUs).reduce((sum, us) => sum + us, 0));
      rows.push([
        target,
        pair('rate'),
        pair('p50Us'),
        pair('p99Us'),
        `${total(before)} → ${total(measured)}`,
      ]);
    }
    if (rows.length > 1) text += `\n${scenario}\n${table(rows)}`;
  }
  return text;
}
