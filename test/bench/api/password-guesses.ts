/**
 * What passwords that are guessed a thousand times a second cost everybody else: the latency of a steady load of the
 * Management API beside the guesses and without them, and the memory that they add to the control plane.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { residentBytes } from '../bench-process.ts';
import type { BenchRun } from '../bench-run.ts';
import { startReady } from '../ready-process.ts';
import { startScript } from '../script-process.ts';
import { EMBEDDED, POSTGRESQL } from './api-server.ts';
import { openBenchPostgres } from './bench-postgres.ts';
import { consoleInstallation } from './console-readers.ts';
import type { SteadyLoad, SteadyResult } from './steady-load-process.ts';

/** The limits of failed log-ins refuse all but the first of them, so that few are hashed. */
const SCENARIO = 'get frontdoor, 200/s beside 1,000 guessed passwords/s';
export const GUESSES_TABLE = '1,000 guessed passwords/s';
export const GUESSES_COLUMN = 'memory, MiB';
export const guessesScenario = (database: string): string => `${SCENARIO}, ${database}`;
const WITHOUT_GUESSES = 'without guesses';
export const WITH_GUESSES = 'with guesses';

const REQUESTS_PER_SECOND = 200;
const GUESSES_PER_SECOND = 1_000;
const ROUNDS = { full: { rounds: 3, seconds: 20 }, quick: { rounds: 2, seconds: 5 } };

interface ReadyFile {
  readonly apiUrl: string;
  readonly pids: { readonly control: number };
}

export async function measurePasswordGuesses(run: BenchRun): Promise<void> {
  await measureAt(run, EMBEDDED);
  if (!run.wants(guessesScenario(POSTGRESQL))) return;
  const postgres = await openBenchPostgres();
  if (postgres === undefined) return run.skip(guessesScenario(POSTGRESQL), 'not installed');
  run.defer(() => postgres.close());
  await measureAt(run, POSTGRESQL, postgres.url);
}

async function measureAt(run: BenchRun, name: string, database?: string): Promise<void> {
  const scenario = guessesScenario(name);
  if (!run.wants(scenario)) return;
  const dataDir = join(run.folder, `guesses-${name}`);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { running, ready } = await startReady<ReadyFile>({
    args: [
      'control',
      ...['--data-dir', dataDir, '--api-port', '0', '--edge-api-port', '0', '--ctrl-port', '0'],
      ...['--log-level', 'warn'],
    ],
    readyFile: join(dataDir, 'ready.json'),
    env: database === undefined ? {} : { FRONTDOOR_DATABASE: database },
    cpuProfileDir: run.options.cpuProfileDir,
  });
  try {
    const { apiUrl, pids } = ready;
    const { frontdoorId, authorization } = consoleInstallation(dataDir, apiUrl);
    const requests: SteadyLoad = {
      url: `${apiUrl}/frontdoor/${frontdoorId}`,
      method: 'GET',
      headers: { authorization },
      perSecond: REQUESTS_PER_SECOND,
    };
    const guesses: SteadyLoad = {
      url: `${apiUrl}/console/log-in`,
      method: 'POST',
      headers: { origin: apiUrl, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'name=person-%d%40example.com&password=plum+giraffe+engine+48',
      perSecond: GUESSES_PER_SECOND,
    };
    const processes = new Map([['control', pids.control]]);
    const targets = [
      { name: WITHOUT_GUESSES, processes, loads: [requests] },
      { name: WITH_GUESSES, processes, loads: [requests, guesses] },
    ];
    let guessed = 0;
    let beforeBytes: number | undefined;
    const afterBytes: number[] = [];
    const rounds = run.options.isQuick ? ROUNDS.quick : ROUNDS.full;
    await run.measure(
      scenario,
      'request',
      targets,
      async ({ loads }, seconds, metered) => {
        if (loads.length > 1) beforeBytes ??= residentBytes(pids.control);
        const [own, others] = await metered(() => resultsOf(loads, seconds));
        if (own!.failed > 0) throw new Error(`${own!.failed} requests failed`);
        if (others !== undefined) {
          if (others.answered > 0) throw new Error(`${others.answered} guesses were right`);
          guessed += others.failed;
          afterBytes.push(residentBytes(pids.control));
        }
        const { answered, perSecond, p50Us, p99Us } = own!;
        return { units: answered, perSecond, p50Us, p99Us };
      },
      rounds,
    );
    run.record(GUESSES_TABLE, name, {
      'memory after the first round, MiB': mebibytes((afterBytes[0] ?? 0) - (beforeBytes ?? 0)),
      [GUESSES_COLUMN]: mebibytes(Math.max(...afterBytes) - (beforeBytes ?? 0)),
      'refused guesses': guessed,
    });
  } finally {
    await running.stop('SIGTERM');
  }
}

function mebibytes(bytes: number): number {
  return Math.max(0, bytes) / 1_048_576;
}

async function resultsOf(loads: readonly SteadyLoad[], seconds: number): Promise<SteadyResult[]> {
  const running = [];
  for (const load of loads) running.push(await startScript('api/steady-load-process.ts', load));
  await pause(seconds * 1_000);
  return Promise.all(running.map(async (one) => JSON.parse(await one.ask()) as SteadyResult));
}
