/**
 * L12: no work over all records in one turn of the loop. With 100,000 shares whose agents are away, each operation, a scrape
 * and what a change causes leave the loop free: no turn is longer than 20 ms, and an answer takes at most 50 ms.
 */
import process from 'node:process';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { Exposition } from '#net/metrics';
import { Tally, type BatteryRow } from './battery-row.ts';
import { startWithManyShares, type ManyShares } from './many-shares.ts';

const SHARES = 100_000;
const QUICK_SHARES = 5_000;
const TURN_MS = 20;
const ANSWER_MS = 50;
/** In the quick form, which runs beside other tests. */
const QUICK_MS = 1_000;
/** What a change causes afterwards, such as the gateway's list. */
const SETTLE_MS = 300;
const US_PER_MS = 1_000;
const START_MS = 40_000;
/** Before them, one call compiles the code and fills caches. */
const CALLS = 5;

export const TURN_ROW: BatteryRow = {
  id: 'L12',
  title: 'work over all records never takes a turn of the loop',
  hasOwnProduct: true,
  run: async ({ quick, note, progress }) => {
    const tally = new Tally();
    const count = quick ? QUICK_SHARES : SHARES;
    const [turnMs, answerMs] = quick ? [QUICK_MS, QUICK_MS] : [TURN_MS, ANSWER_MS];
    progress(`filling a database with ${count} shares`);
    const many = await startWithManyShares(count);
    try {
      // Until then no agent counts as offline, and afterwards every share fails.
      progress('waiting until the statuses are known');
      const started = await longestTurn(() => pause(quick ? SETTLE_MS : START_MS));
      note(`after the start: longest turn ${started.toFixed(1)} ms`);
      for (const [name, operation] of Object.entries(operationsOf(many))) {
        const { ms, cpuMs, turn } = await measure(operation);
        note(
          `${name}: answer ${ms.toFixed(1)} ms (CPU ${cpuMs.toFixed(1)}), longest turn ${turn.toFixed(1)} ms`,
        );
        tally.check(Math.min(ms, cpuMs) <= answerMs, `${name}: the answer`, () => `${ms.toFixed(1)} ms`);
        tally.check(turn <= turnMs, `${name}: the longest turn`, () => `${turn.toFixed(1)} ms`);
      }
    } finally {
      await many.close();
    }
    return tally;
  },
};

type Operation = () => Promise<void>;

/** The best of several calls. */
interface Measured {
  readonly ms: number;
  readonly cpuMs: number;
  /** Includes the work that follows the answer. */
  readonly turn: number;
}

/** The longest turn of the loop during the work, in CPU time of this thread: other processes lengthen every other measure. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let last = process.threadCpuUsage();
  let [longest, isDone] = [0, false];
  const turn = (): void => {
    const now = process.threadCpuUsage();
    longest = Math.max(longest, (now.user + now.system - last.user - last.system) / US_PER_MS);
    last = now;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isDone = true;
  await nextTurn();
  return longest;
}

/** Milliseconds until the answer: of the clock, and of CPU in all threads, the database's included. */
async function answerTime(operation: Operation): Promise<{ readonly ms: number; readonly cpuMs: number }> {
  const [startMs, start] = [performance.now(), process.cpuUsage()];
  await operation();
  const { user, system } = process.cpuUsage(start);
  return { ms: performance.now() - startMs, cpuMs: (user + system) / US_PER_MS };
}

async function measure(operation: Operation): Promise<Measured> {
  const best = { ms: Infinity, cpuMs: Infinity, turn: Infinity };
  await operation();
  for (let call = 0; call < CALLS; call += 1) {
    const { ms, cpuMs } = await answerTime(operation);
    best.ms = Math.min(best.ms, ms);
    best.cpuMs = Math.min(best.cpuMs, cpuMs);
    const turn = await longestTurn(() => operation().then(() => pause(SETTLE_MS)));
    best.turn = Math.min(best.turn, turn);
  }
  return best;
}

function operationsOf({
  up,
  frontdoorId,
  authorization,
  environmentId,
}: ManyShares): Record<string, Operation> {
  const { control } = up;
  const call = async (method: string, path: string, body?: object): Promise<void> => {
    const response = await fetch(`${control.baseUrl}${path}`, {
      method,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  };
  const own = `/frontdoor/${frontdoorId}`;
  const share = { environmentId, shareMode: 'public', backendMode: 'proxy', target: 'http://127.0.0.1:9' };
  const reads = [
    '/summary',
    `${own}/summary`,
    `${own}/shares`,
    `${own}/shares?status=FAILED`,
    `${own}/shares?status=DEPLOYED`,
    `${own}/shares?sort=status,desc`,
    `${own}/shares?name=99`,
    `${own}/shares?sort=name,asc&page=100`,
    `${own}/shares/name-0`,
    `${own}/environments`,
    '/search?q=name-77',
    '/fabric/mesh',
    '/fabric/terminators',
    '/fabric/gateways',
  ];
  let created = 0;
  return {
    'GET /metrics': async () => control.writeMetrics(new Exposition()),
    ...Object.fromEntries(reads.map((path) => [`GET ${path}`, () => call('GET', path)])),
    'a share that comes and goes': async () => {
      const name = `new-${(created += 1)}`;
      await call('POST', `${own}/shares`, { ...share, name });
      await call('DELETE', `${own}/shares/${name}`);
    },
    'a target that changes': () =>
      call('PATCH', `${own}/shares/name-0`, { target: `http://127.0.0.1:${(created += 1)}` }),
  };
}
