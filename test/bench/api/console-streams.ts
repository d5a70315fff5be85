/**
 * What open streams of changes cost the control plane: its resident memory with 200 of them, each with a session of its own
 * and with changes on their way, less the memory before.
 */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { figureOf } from '../figure.ts';
import { residentBytes } from '../bench-process.ts';
import type { BenchRun } from '../bench-run.ts';
import { onEachDatabase, startBenchControl } from './bench-control.ts';
import { consoleInstallation, makeChanges, openSessions, openStreams } from './console-readers.ts';

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
  await onEachDatabase(run, scenarioOn, (name, url) => measureAt(run, name, url));
}

async function measureAt(run: BenchRun, name: string, database?: string): Promise<void> {
  run.report(`measuring: ${SCENARIO}, ${name}`);
  const rounds: number[] = [];
  for (let round = 0; round < run.options.singleRounds; round += 1)
    rounds.push(await heldBytes(run, name, database));
  run.record(STREAMS_TABLE, name, { [STREAMS_COLUMN]: Math.max(0, figureOf(rounds).median) / 1_048_576 });
}

/**
 * Returns what the streams add to a process that was just started: a heap that earlier streams have grown would hide what
 * these take.
 */
async function heldBytes(run: BenchRun, name: string, database: string | undefined): Promise<number> {
  const dataDir = join(run.folder, `streams-${name}`);
  const { cpuProfileDir } = run.options;
  const { running, ready } = await startBenchControl({ dataDir, database, cpuProfileDir });
  const agent = new Agent({ maxSockets: STREAMS });
  try {
    const installation = consoleInstallation(dataDir, ready.apiUrl);
    const cookies = await openSessions(installation, STREAMS);
    // What the first streams alone bring with them is not counted.
    const first = await openStreams(installation, cookies.slice(0, FIRST_STREAMS), agent);
    await makeChanges(installation, CHANGES);
    for (const { response } of first) response.destroy();
    await pause(SETTLE_MS);
    const beforeBytes = residentBytes(ready.pids.control);
    const streams = await openStreams(installation, cookies, agent);
    await makeChanges(installation, CHANGES);
    await pause(SETTLE_MS);
    const bytes = residentBytes(ready.pids.control) - beforeBytes;
    const silent = streams.filter(({ events }) => events < CHANGES).length;
    if (silent > 0) throw new Error(`${silent} of ${STREAMS} streams have not all changes`);
    for (const { response } of streams) response.destroy();
    return bytes;
  } finally {
    agent.destroy();
    await running.stop('SIGTERM');
  }
}
