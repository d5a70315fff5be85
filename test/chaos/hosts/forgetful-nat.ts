/**
 * Agents behind a translator of addresses that forgets all their connections every 30 s, in turns without and with a reset,
 * while visitors make new circuits to their shares. No request may fail: agents notice in time, and connect again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { localPortsTo } from '../../support/process-faults.ts';
import { Turns } from '../../support/undisturbed.ts';
import { withLossyAgents, type LossyWorld } from './lossy-agents.ts';
import { Visitors } from './visitors.ts';

const CYCLE_MS = 30_000;
/** After this time both ends have noticed that a connection is lost. */
const NOTICED_MS = 20_000;
/** Failures that are shown of a cycle. */
const SHOWN = 3;

export interface NatOptions {
  readonly cycles: number;
  readonly agents: number;
  say(line: string): void;
}

/** Returns whether each request was served. */
export function forgetInCycles(options: NatOptions): Promise<boolean> {
  return withLossyAgents(options.agents, (world) => runCycles(world, options));
}

async function runCycles(world: LossyWorld, { cycles, say }: NatOptions): Promise<boolean> {
  let total = 0;
  let allFailed = 0;
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const how = cycle % 2 === 0 ? 'silent' : 'resetting';
    const { count, failed, slowestMs, shown } = await runCycle(world, how);
    total += count;
    allFailed += failed;
    say(
      `  cycle ${cycle + 1} (${how}): ${failed} of ${count} requests failed, slowest ${Math.round(slowestMs)} ms`,
    );
    for (const line of shown) say(`    ${line}`);
  }
  say(`  ${total - allFailed} of ${total} requests served in ${cycles} cycles of ${CYCLE_MS / 1_000} s`);
  return allFailed === 0;
}

interface CycleResult {
  readonly count: number;
  readonly failed: number;
  readonly slowestMs: number;
  readonly shown: readonly string[];
}

async function runCycle(
  { parts, flows, agents }: LossyWorld,
  how: 'silent' | 'resetting',
): Promise<CycleResult> {
  const edgePort = parts.router.ready.edgePort;
  const visitors = agents.map(({ host }) => new Visitors(parts.port, host));
  using turns = new Turns();
  const startedMs = performance.now();
  const ports = agents.flatMap(({ part }) => localPortsTo(part, edgePort));
  flows.forget(ports, how);
  const release = setTimeout(() => flows.release(ports, how), NOTICED_MS);
  try {
    await pause(CYCLE_MS);
  } finally {
    clearTimeout(release);
    await Promise.all(visitors.map((one) => one.stop()));
  }
  const failures = visitors.flatMap((one) => one.failures);
  const shown = failures
    .slice(0, SHOWN)
    .map(({ atMs, reason }) => `after ${Math.round(atMs - startedMs)} ms: ${reason}`);
  if (shown.length > 0) shown.push(`this machine stood still for ${Math.round(turns.latestMs)} ms`);
  return {
    count: visitors.reduce((sum, { count }) => sum + count, 0),
    failed: failures.length,
    slowestMs: Math.max(...visitors.map(({ slowestMs }) => slowestMs)),
    shown,
  };
}
