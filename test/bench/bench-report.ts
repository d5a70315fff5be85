/** Tables for people: figures of a run, goals, and two runs side by side. */
import type { Benchmark } from './benchmark.ts';
import type { BenchResult, FactTable, Measured, Unit } from './bench-result.ts';
import type { Figure } from './figure.ts';
import { isReached, type MeasuredField, type Goal } from './goal.ts';

const RATES: Readonly<Record<Unit, { readonly name: string; readonly scale: number }>> = {
  request: { name: 'requests/s', scale: 1 },
  message: { name: 'messages/s', scale: 1 },
  circuit: { name: 'circuits/s', scale: 1 },
  MB: { name: 'MB/s', scale: 1e-6 },
};

const OTHER_LOAD = 'another load (half of the time, 16 MB of memory)';

type Reference = Benchmark['reference'];

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  ');
  return rows.map((row) => `  ${line(row)}\n`).join('');
}

function short(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US');
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function spread(figure: Figure | undefined, scale: number): string {
  if (figure === undefined) return '';
  return `${short(figure.median * scale)} (${short(figure.min * scale)} to ${short(figure.max * scale)})`;
}

function ratioOf(measured: Measured, reference: Measured | undefined, field: MeasuredField): string {
  const [ours, theirs] = [measured[field]?.median, reference?.[field]?.median];
  return ours === undefined || theirs === undefined ? '' : (ours / theirs).toFixed(2);
}

function cpuText({ cpuUs }: Measured): string {
  return Object.entries(cpuUs)
    .map(([name, us]) => `${name} ${short(us)}`)
    .join(', ');
}

function scenarioText(
  name: string,
  targets: Readonly<Record<string, Measured>>,
  unit: Unit,
  reference: Reference,
): string {
  const { name: rate, scale } = RATES[unit];
  const rows = [['', rate, '×', 'p50 ms', '×', 'p99 ms', '×', `CPU µs per ${unit}`]];
  for (const [target, measured] of Object.entries(targets)) {
    const other = targets[reference(target)];
    rows.push([
      target,
      spread(measured.rate, scale),
      ratioOf(measured, other, 'rate'),
      spread(measured.p50Us, 1e-3),
      ratioOf(measured, other, 'p50Us'),
      spread(measured.p99Us, 1e-3),
      ratioOf(measured, other, 'p99Us'),
      cpuText(measured),
    ]);
  }
  const kept = rows[0]!.map((_, column) => column < 2 || rows.slice(1).some((row) => row[column] !== ''));
  return `\n${name}\n${table(rows.map((row) => row.filter((_, column) => kept[column])))}`;
}

function factText(title: string, facts: FactTable): string {
  const columns = [...new Set(Object.values(facts).flatMap((row) => Object.keys(row)))];
  const rows = Object.entries(facts).map(([name, row]) => [
    name,
    ...columns.map((column) => (row[column] === undefined ? '' : short(row[column]))),
  ]);
  return `\n${title}\n${table([['', ...columns], ...rows])}`;
}

export function goalText(title: string, goals: readonly Goal[], result: BenchResult): string {
  const rows = goals.map((goal) => {
    const value = goal.value(result);
    return [
      `${goal.name}${goal.qualifier?.(result) ?? ''}`,
      `${goal.sense === 'least' ? '≥' : '≤'} ${goal.limit} ${goal.unit}`,
      value === undefined ? 'not measured' : `${short(value)} ${goal.unit}`,
      value === undefined ? '' : isReached(goal, value) ? 'reached' : 'MISSED',
    ];
  });
  return `\n${title}\n${table([['goal', 'wanted', 'measured', ''], ...rows])}`;
}

export function reportText(benchmark: Benchmark, result: BenchResult): string {
  const { cpus, model, kernel, node } = result.machine;
  const { warmUpRounds } = benchmark;
  const warmUp = warmUpRounds === 0 ? '' : `, each target warmed up for ${warmUpRounds} rounds`;
  const { requests, unique } = result.checked;
  return [
    `\n${cpus} × ${model}, Linux ${kernel}, Node ${node}\n`,
    `${result.rounds} interleaved rounds of ${result.roundSeconds} s${warmUp}: median (least to most)\n`,
    result.isBusy === true ? `${OTHER_LOAD} ran on every core in the meantime\n` : '',
    ...Object.entries(result.scenarios).map(([name, targets]) =>
      scenarioText(name, targets, result.units[name]!, benchmark.reference),
    ),
    ...Object.entries(result.tables).map(([title, facts]) => factText(title, facts)),
    ...Object.entries(benchmark.goals(result)).map(([title, goals]) => goalText(title, goals, result)),
    '\n',
    requests === 0
      ? ''
      : `${requests} answers compared byte by byte, ${unique} of them unique; all were right\n`,
    result.skipped.length === 0 ? '' : `not measured: ${result.skipped.join(', ')}\n`,
  ].join('');
}

/** Two results: the ratios to the reference of their own run, which is all that two runs have in common. */
export function compareText(reference: Reference, older: BenchResult, newer: BenchResult): string {
  let text = `${older.startedAt} → ${newer.startedAt}; ratios to the reference of the same run\n`;
  if (older.machine.model !== newer.machine.model) text += 'the machines differ: compare with care\n';
  for (const [scenario, targets] of Object.entries(newer.scenarios)) {
    const rows = [['', 'rate ×', 'p50 ×', 'p99 ×', 'CPU µs']];
    for (const [target, measured] of Object.entries(targets)) {
      const before = older.scenarios[scenario]?.[target];
      if (before === undefined) continue;
      const name = reference(target);
      const references = [older.scenarios[scenario]?.[name], targets[name]] as const;
      const pair = (field: MeasuredField): string =>
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
