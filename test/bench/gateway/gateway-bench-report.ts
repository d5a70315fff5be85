/** Tables of the gateway's benchmark, for people. */
import { MEGABYTES, REQUESTS, scenarioText, short, table, type RateUnit } from '../bench-report.ts';
import { WARM_UP_ROUNDS } from '../scenario.ts';
import type { GatewayBenchResult } from './gateway-bench-result.ts';
import { GATEWAY_GOALS, isReached } from './gateway-goal-table.ts';
import { DOWNLOAD, MESSAGE_SCENARIOS } from './gateway-scenario-table.ts';

const MESSAGES: RateUnit = { rate: 'messages/s', scale: 1, each: 'message' };

function unitOf(scenario: string): RateUnit {
  if (scenario === DOWNLOAD.plain || scenario === DOWNLOAD.secure) return MEGABYTES;
  return MESSAGE_SCENARIOS.some(({ name }) => name === scenario) ? MESSAGES : REQUESTS;
}

function idleText(result: GatewayBenchResult): string {
  let text = '';
  for (const [kind, fronts] of Object.entries(result.idle)) {
    const rows = [['', 'connections', 'before, MiB', 'with them, MiB', 'each, KiB']];
    for (const [name, { connections, beforeBytes, heldBytes }] of Object.entries(fronts)) {
      const mebibytes = (bytes: number): string => short(bytes / 1024 / 1024);
      const each = (heldBytes - beforeBytes) / connections / 1024;
      rows.push([name, `${connections}`, mebibytes(beforeBytes), mebibytes(heldBytes), each.toFixed(1)]);
    }
    text += `\nidle connections, ${kind}\n${table(rows)}`;
  }
  return text;
}

function workerText({ workers }: GatewayBenchResult): string {
  if (workers === undefined) return '';
  const sum = workers.spread.reduce((total, count) => total + count, 0);
  const shares = workers.spread.map((count) => `${count} (${((100 * count) / sum).toFixed(1)} %)`);
  return (
    `\ngateway's CPU µs per request: one worker ${short(workers.oneWorkerUs)}, two ${short(workers.twoWorkersUs)}` +
    `; ${sum} connections: ${shares.join(' and ')}\n`
  );
}

export function gatewayGoalText(result: GatewayBenchResult): string {
  const rows = [['goal', 'wanted', 'measured', '']];
  for (const goal of GATEWAY_GOALS) {
    const value = goal.value(result);
    rows.push([
      goal.overTls?.(result) === true ? `${goal.name}, over TLS` : goal.name,
      `${goal.sense === 'least' ? '≥' : '≤'} ${goal.limit} ${goal.unit}`,
      value === undefined ? 'not measured' : `${value.toFixed(2)} ${goal.unit}`,
      value === undefined ? '' : isReached(goal, value) ? 'reached' : 'MISSED',
    ]);
  }
  return `\ngoals of up (× is the ratio to nginx as reverse proxy, medians)\n${table(rows)}`;
}

export function gatewayReportText(result: GatewayBenchResult): string {
  const { cpus, model, kernel, node } = result.machine;
  const head =
    `\n${cpus} × ${model}, Linux ${kernel}, Node ${node}\n` +
    `${result.rounds} interleaved rounds of ${result.roundSeconds} s, each target warmed up for ${WARM_UP_ROUNDS} rounds: median (least to most)\n`;
  const scenarios = Object.entries(result.scenarios).map(([name, targets]) =>
    scenarioText(name, targets, unitOf(name)),
  );
  const { requests, unique } = result.checked;
  const tail =
    `\n${requests} answers compared byte by byte, ${unique} of them unique; all were right\n` +
    result.skipped.map((what) => `not measured: ${what}\n`).join('');
  return head + scenarios.join('') + idleText(result) + workerText(result) + gatewayGoalText(result) + tail;
}
