/**
 * What open streams of changes cost the control plane: its resident memory with 200 of them, each with a session of its own
 * and with changes on their way, less the memory before.
 */
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { figureOf } from '../figure.ts';
import { residentBytes } from '../bench-process.ts';
import type { BenchRun } from '../bench-run.ts';
import { onEachDatabase, startBenchControl } from './bench-control.ts';
import { makeChanges, openSessions, openStreams } from './console-readers.ts';

const SCENARIO = 'open streams of changes';
const STREAMS = 200;
export const STREAMS_TABLE = `${STREAMS} ${SCENARIO}`;
export const STREAMS_COLUMN = 'memory, MiB';
const CHANGES = 20;
const FIRST_STREAMS = 20;
const SETTLE_MS = 3_000;

export async function measureConsoleStreams(run: BenchRun): Promise<void> {
  if (!run.wants(SCENARIO)) return;
  const scenarioOn = (database: string) => `${SCENARIO}, ${database}`;
  await onEachDatabase(run, scenarioOn, async (name, url) => {
    run.report(`measuring: ${scenarioOn(name)}`);
    const bytes = await run.repeat(() => run.part(() => heldBytes(run, name, url)));
    run.record(STREAMS_TABLE, name, { [STREAMS_COLUMN]: Math.max(0, figureOf(bytes).median) / 1_048_576 });
  });
}

/**
 * Returns what the streams add to a process that was just started: a heap that earlier streams have grown would hide what
 * these take.
 */
async function heldBytes(run: BenchRun, name: string, database: string | undefined): Promise<number> {
  const control = await startBenchControl(run, `streams-${name}`, database);
  const agent = new Agent({ maxSockets: STREAMS });
  run.defer(async () => agent.destroy());
  const cookies = await openSessions(control, STREAMS);
  // What the first streams alone bring with them is not counted.
  const first = await openStreams(control, cookies.slice(0, FIRST_STREAMS), agent);
  await makeChanges(control, CHANGES);
  for (const { response } of first) response.destroy();
  await pause(SETTLE_MS);
  const beforeBytes = residentBytes(control.pid);
  const streams = await openStreams(control, cookies, agent);
  await makeChanges(control, CHANGES);
  await pause(SETTLE_MS);
  const bytes = residentBytes(control.pid) - beforeBytes;
  const silent = streams.filter(({ events }) => events < CHANGES).length;
  if (silent > 0) throw new Error(`${silent} of ${STREAMS} streams have not all changes`);
  for (const { response } of streams) response.destroy();
  return bytes;
}
