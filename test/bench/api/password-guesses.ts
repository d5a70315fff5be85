/**
 * What passwords that are guessed a thousand times a second cost everybody else: the latency of a steady load of the
 * Management API beside the guesses and without them, the memory that they add to the control plane, and how long people
 * who come from elsewhere wait for their log-in.
 */
import { residentBytes } from '../bench-process.ts';
import type { BenchRun, Rounds } from '../bench-run.ts';
import { onEachDatabase, startBenchControl, type BenchControl } from './bench-control.ts';
import { makePerson } from './console-readers.ts';
import type { SteadyLoad } from './steady-load-process.ts';
import { runSteadyLoads, withoutFailure } from './steady-load.ts';

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
  const measure = (name: string, url?: string): Promise<void> =>
    run.part(async () => {
      const control = await startBenchControl(run, `guesses-${name}`, url);
      if (run.wants(logInScenario(name))) await measureLogIns(run, name, control);
      if (run.wants(guessesScenario(name))) await measureRequests(run, name, control);
    });
  await onEachDatabase(run, guessesScenario, measure, isWanted);
}

const roundsOf = ({ options }: BenchRun): Rounds => (options.isQuick ? ROUNDS.quick : ROUNDS.full);

function guessesAt({ apiUrl }: BenchControl): SteadyLoad {
  return {
    url: `${apiUrl}/console/log-in`,
    method: 'POST',
    headers: { origin: apiUrl, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'name=person-%d%40example.com&password=plum+giraffe+engine+48',
    perSecond: GUESSES_PER_SECOND,
  };
}

/** A load of others alone, and beside guesses. */
function targetsOf({ pid }: BenchControl, others: SteadyLoad, guesses: SteadyLoad) {
  const processes = new Map([['control', pid]]);
  return [
    { name: WITHOUT_GUESSES, processes, loads: [others] },
    { name: WITH_GUESSES, processes, loads: [others, guesses] },
  ];
}

async function measureLogIns(run: BenchRun, name: string, control: BenchControl): Promise<void> {
  await makePerson(control, PERSON);
  const { email, password } = PERSON;
  const guesses = guessesAt(control);
  const logIns: SteadyLoad = {
    ...guesses,
    body: new URLSearchParams({ name: email, password }).toString(),
    perSecond: LOG_INS_PER_SECOND,
    networks: OTHER_NETWORKS,
    firstNetwork: FIRST_OTHER_NETWORK,
  };
  const targets = targetsOf(control, logIns, { ...guesses, networks: GUESSING_NETWORKS });
  let refused = 0;
  await run.measure(
    logInScenario(name),
    'request',
    targets,
    async ({ loads }, seconds, metered) => {
      const [own] = await metered(() => runSteadyLoads(loads, seconds));
      refused += own!.failed;
      return own!;
    },
    roundsOf(run),
  );
  run.record(LOG_INS_TABLE, name, { [LOG_INS_COLUMN]: refused });
}

async function measureRequests(run: BenchRun, name: string, control: BenchControl): Promise<void> {
  const { apiUrl, frontdoorId, authorization, pid } = control;
  const requests: SteadyLoad = {
    url: `${apiUrl}/frontdoor/${frontdoorId}`,
    method: 'GET',
    headers: { authorization },
    perSecond: REQUESTS_PER_SECOND,
  };
  let guessed = 0;
  let beforeBytes: number | undefined;
  const afterBytes: number[] = [];
  await run.measure(
    guessesScenario(name),
    'request',
    targetsOf(control, requests, guessesAt(control)),
    async ({ loads }, seconds, metered) => {
      if (loads.length > 1) beforeBytes ??= residentBytes(pid);
      const [own, others] = await metered(() => runSteadyLoads(loads, seconds));
      if (others !== undefined) {
        if (others.units > 0) throw new Error(`${others.units} guesses were right`);
        guessed += others.failed;
        afterBytes.push(residentBytes(pid));
      }
      return withoutFailure(own!);
    },
    roundsOf(run),
  );
  run.record(GUESSES_TABLE, name, {
    'memory after the first round, MiB': mebibytes((afterBytes[0] ?? 0) - (beforeBytes ?? 0)),
    [GUESSES_COLUMN]: mebibytes(Math.max(...afterBytes) - (beforeBytes ?? 0)),
    'refused guesses': guessed,
  });
}

function mebibytes(bytes: number): number {
  return Math.max(0, bytes) / 1_048_576;
}
