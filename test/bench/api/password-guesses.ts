/**
 * What passwords that are guessed a thousand times a second cost everybody else: the latency of a steady load of the
 * Management API beside the guesses and without them, the memory that they add to the control plane, and how long people
 * who come from elsewhere wait for their log-in.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { residentBytes } from '../bench-process.ts';
import type { BenchRun } from '../bench-run.ts';
import { startScript } from '../script-process.ts';
import { onEachDatabase, startBenchControl } from './bench-control.ts';
import { consoleInstallation, makePerson } from './console-readers.ts';
import type { SteadyLoad, SteadyResult } from './steady-load-process.ts';

/** The limits of failed log-ins refuse all but the first of them, so that few are hashed. */
const SCENARIO = 'get frontdoor, 200/s beside 1,000 guessed passwords/s';
export const GUESSES_TABLE = '1,000 guessed passwords/s';
export const GUESSES_COLUMN = 'memory, MiB';
export const guessesScenario = (database: string): string => `${SCENARIO}, ${database}`;
/** All of them are hashed in turn, because no network has many. */
const LOG_IN_SCENARIO = 'log in, 2/s beside 1,000 guessed passwords/s of 200 networks';
export const logInScenario = (database: string): string => `${LOG_IN_SCENARIO}, ${database}`;
const WITHOUT_GUESSES = 'without guesses';
export const WITH_GUESSES = 'with guesses';

const REQUESTS_PER_SECOND = 200;
const GUESSES_PER_SECOND = 1_000;
const LOG_INS_PER_SECOND = 2;
const [GUESSING_NETWORKS, OTHER_NETWORKS, FIRST_OTHER_NETWORK] = [200, 250, 100];
const ROUNDS = { full: { rounds: 3, seconds: 20 }, quick: { rounds: 2, seconds: 5 } };

const PERSON = { email: 'ann@example.com', password: 'plum giraffe engine 47' };
export const LOG_INS_TABLE = 'log-ins beside guessed passwords';
export const LOG_INS_COLUMN = 'refused log-ins';

export async function measurePasswordGuesses(run: BenchRun): Promise<void> {
  const isWanted = (name: string) => run.wants(guessesScenario(name)) || run.wants(logInScenario(name));
  await onEachDatabase(run, guessesScenario, (name, url) => measureAt(run, name, url), isWanted);
}

async function measureAt(run: BenchRun, name: string, database?: string): Promise<void> {
  const scenario = guessesScenario(name);
  const ofLogIns = logInScenario(name);
  const dataDir = join(run.folder, `guesses-${name}`);
  const { cpuProfileDir } = run.options;
  const { running, ready } = await startBenchControl({ dataDir, database, cpuProfileDir });
  try {
    const { apiUrl, pids } = ready;
    const installation = consoleInstallation(dataDir, apiUrl);
    const { frontdoorId, authorization } = installation;
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
    const rounds = run.options.isQuick ? ROUNDS.quick : ROUNDS.full;
    if (run.wants(ofLogIns)) {
      await makePerson(installation, PERSON);
      const { email, password } = PERSON;
      const logIns: SteadyLoad = {
        ...guesses,
        body: new URLSearchParams({ name: email, password }).toString(),
        perSecond: LOG_INS_PER_SECOND,
        networks: OTHER_NETWORKS,
        firstNetwork: FIRST_OTHER_NETWORK,
      };
      const ofNetworks = { ...guesses, networks: GUESSING_NETWORKS };
      const targets = [
        { name: WITHOUT_GUESSES, processes, loads: [logIns] },
        { name: WITH_GUESSES, processes, loads: [logIns, ofNetworks] },
      ];
      let refused = 0;
      await run.measure(
        ofLogIns,
        'request',
        targets,
        async ({ loads }, seconds, metered) => {
          const [own] = await metered(() => resultsOf(loads, seconds));
          const { answered, failed, perSecond, p50Us, p99Us } = own!;
          refused += failed;
          return { units: answered, perSecond, p50Us, p99Us };
        },
        rounds,
      );
      run.record(LOG_INS_TABLE, name, { [LOG_INS_COLUMN]: refused });
    }
    if (!run.wants(scenario)) return;
    const targets = [
      { name: WITHOUT_GUESSES, processes, loads: [requests] },
      { name: WITH_GUESSES, processes, loads: [requests, guesses] },
    ];
    let guessed = 0;
    let beforeBytes: number | undefined;
    const afterBytes: number[] = [];
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
