/** An agent, and the control plane, that stand still (SIGSTOP) and continue, while visitors ask for a share. */
import { createServer, request, Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { resume, suspend } from '../../support/process-faults.ts';
import { startSeparate, type Separate } from '../../support/separate.ts';
import { SteadyProbes } from '../../support/steady-probes.ts';

const BODY = 'here';
const ANSWERED_WITHIN_MS = 6_000;
const AGENT_STANDS_MS = 14_000;
const ASK_EACH_MS = 400;
/** Longer than a router keeps the channel to a silent control plane, and needs to notice that no other comes. */
const CONTROL_STANDS_MS = 45_000;
const PROBED_BEFORE_MS = 1_000;
const PROBED_AFTER_MS = 3_000;
const PROBES_PER_S = 100;

type Say = (line: string) => void;

interface FrozenWorld {
  readonly parts: Separate;
  readonly host: string;
}

export const FROZEN_ROWS: ReadonlyMap<string, (world: FrozenWorld, say: Say) => Promise<boolean>> = new Map([
  ['frozen-agent', freezeAgent],
  ['frozen-control', freezeControl],
]);

/** Returns whether all goals were reached. */
export async function runFrozenRows(rows: readonly string[], say: Say): Promise<boolean> {
  const origin = createServer({ keepAliveTimeout: 60_000 }, (incoming, answer) => {
    if (incoming.url === '/once') answer.setHeader('connection', 'close');
    answer.end(BODY);
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const parts = await startSeparate();
  try {
    const target = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
    const { endpoints } = await parts.share('public', target, 'frozen');
    const world = { parts, host: new URL(endpoints[0]!).hostname };
    let isGood = true;
    for (const row of rows) {
      say(`${row}:`);
      isGood = (await FROZEN_ROWS.get(row)!(world, say)) && isGood;
    }
    return isGood;
  } finally {
    for (const part of [parts.agent, parts.control]) resume(part);
    await parts.stop();
    origin.closeAllConnections();
    origin.close();
  }
}

/** Each request is answered in time, over circuits that were kept and new ones, and soon after the agent continues. */
async function freezeAgent(world: FrozenWorld, say: Say): Promise<boolean> {
  const { agent } = world.parts;
  const client = new Agent({ keepAlive: true });
  const ask = (): Promise<{ status: number; tookMs: number }> => askOnce(world, client);
  try {
    await Promise.all(Array.from({ length: 5 }, ask));
    suspend(agent);
    const asked: ReturnType<typeof ask>[] = [];
    for (
      const endMs = performance.now() + AGENT_STANDS_MS;
      performance.now() < endMs;
      await pause(ASK_EACH_MS)
    )
      asked.push(ask());
    const answers = await Promise.all(asked);
    resume(agent);
    const slowestMs = Math.max(...answers.map(({ tookMs }) => tookMs));
    const late = answers.filter(({ tookMs }) => tookMs > ANSWERED_WITHIN_MS).length;
    const sinceMs = performance.now();
    while ((await ask()).status !== 200) await pause(100);
    const backMs = performance.now() - sinceMs;
    say(
      `  ${answers.length - late} of ${answers.length} requests answered within ${ANSWERED_WITHIN_MS} ms, ` +
        `slowest ${Math.round(slowestMs)} ms; served ${Math.round(backMs)} ms after the agent continued`,
    );
    return late === 0 && backMs <= ANSWERED_WITHIN_MS;
  } finally {
    client.destroy();
  }
}

/** From when the control plane continues, each request is served. */
async function freezeControl({ parts, host }: FrozenWorld, say: Say): Promise<boolean> {
  suspend(parts.control);
  await pause(CONTROL_STANDS_MS - PROBED_BEFORE_MS);
  const probes = new SteadyProbes({ ports: [parts.port], host, body: BODY, perSecond: PROBES_PER_S });
  await pause(PROBED_BEFORE_MS);
  resume(parts.control);
  const sinceMs = performance.now();
  await pause(PROBED_AFTER_MS);
  await probes.stop();
  const { count, failed, slowestMs, reasons } = probes.since(sinceMs);
  say(
    `  ${count - failed} of ${count} requests served from when the control plane continued, ` +
      `slowest ${Math.round(slowestMs)} ms ${failed === 0 ? '' : JSON.stringify(reasons)}`,
  );
  return failed === 0;
}

function askOnce({ parts, host }: FrozenWorld, agent: Agent): Promise<{ status: number; tookMs: number }> {
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const done = (status: number): void => resolve({ status, tookMs: performance.now() - startedMs });
    const asked = request({ host: '127.0.0.1', port: parts.port, headers: { host }, agent });
    asked.on('response', (answer) => answer.resume().on('close', () => done(answer.statusCode ?? 0)));
    asked.on('error', () => done(0));
    asked.end();
  });
}
