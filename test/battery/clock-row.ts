/**
 * A16: the clock of all parts jumps an hour ahead and back again, by libfaketime, while they run. Credentials that
 * have expired stay expired, revoked ones stay revoked, and everything else continues to work. Streams outlive jumps of
 * two hours.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '#base';
import { until } from '../support/deadline.ts';
import { startIdentityWorld, type IdentityWorld } from '../support/identity-world.ts';
import type { Visitor } from '../support/visitor.ts';
import { RowSkipped, Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';
import { checkStreams } from './clock-streams.ts';
import { cpuMs } from './memory-watch.ts';

const LIBRARIES = [
  process.env['FAKETIME_LIBRARY'] ?? '',
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
];
const HOUR_S = 3_600;
const HALF_HOUR_MS = 1_800_000;
/** A look at the clock each second, a report each half minute, and time for both. */
const JUMPED_MS = 15_000;
const WATCHED_MS = 12_000;
const LOOK_MS = 250;
const MAX_CPU = 0.5;

/** The part of an unexpected answer that is shown. */
const SHOWN_CHARS = 60;

/** Statuses by what was shown. */
type Seen = Readonly<Record<string, number>>;

export const CLOCK_ROW: BatteryRow = {
  id: 'A16',
  title: 'a clock that jumps ahead and back revives no expired or revoked credential, and stops nothing else',
  // The product of the battery uses the clock of the machine, so this row starts its own.
  hasOwnProduct: true,
  run: async (context) => {
    const library = LIBRARIES.find((path) => path !== '' && existsSync(path));
    if (library === undefined)
      throw new RowSkipped('no libfaketime (Debian: libfaketime), or FAKETIME_LIBRARY');
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-clock-'));
    const clock = join(folder, 'clock');
    const setClock = (seconds: number): void =>
      writeFileSync(clock, `${seconds < 0 ? '' : '+'}${seconds}s\n`);
    setClock(0);
    try {
      const world = await startIdentityWorld({
        env: {
          LD_PRELOAD: library,
          FAKETIME_TIMESTAMP_FILE: clock,
          FAKETIME_CACHE_DURATION: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
        },
      });
      try {
        const tally = await checkJumps(context, world, setClock);
        await checkStreams(tally, world, setClock);
        return tally;
      } finally {
        setClock(0);
        await world.close();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function checkJumps(
  { quick, note }: BatteryRowContext,
  world: IdentityWorld,
  setClock: (seconds: number) => void,
): Promise<Tally> {
  const tally = new Tally();
  const stage = await openStage(world);
  const open: Seen = { session: 200, token: 200, 'key for a time': 200, 'share for a time': 200 };
  const ended: Seen = { 'ended session': 401, 'removed key': 401 };
  const lasting: Seen = { 'lasting key': 200, 'open share': 200 };
  const over: Seen = { session: 401, token: 401, 'key for a time': 401, 'share for a time': 403 };
  const isAll = (seen: Seen, wanted: Seen): boolean =>
    Object.entries(wanted).every(([what, status]) => seen[what] === status);
  const waitFor = (what: string, wanted: Seen): Promise<unknown> =>
    until(
      what,
      () => stage.look(),
      (seen) => isAll(seen, wanted),
      JUMPED_MS,
    );

  await waitFor('all but revoked credentials are accepted', { ...open, ...ended, ...lasting });
  setClock(HOUR_S);
  await waitFor('credentials with an end have expired', { ...over, ...ended, ...lasting });
  const back: readonly (readonly [number, string])[] = [
    [0, 'back where it was'],
    [-HOUR_S, 'an hour behind'],
  ];
  for (const [seconds, where] of back) {
    setClock(seconds);
    const { control, gateway } = world.parts;
    const before = [control, gateway].map(({ pid }) => cpuMs(pid));
    const startedMs = performance.now();
    const lookMs = quick ? WATCHED_MS / 3 : WATCHED_MS;
    while (performance.now() - startedMs < lookMs) {
      const seen = await stage.look();
      for (const [what, status] of Object.entries({ ...over, ...ended, ...lasting }))
        tally.check(seen[what] === status, `${where}: ${what}`, () => `${seen[what]} instead of ${status}`);
      await pause(LOOK_MS);
    }
    const tookMs = performance.now() - startedMs;
    for (const [i, { name, pid }] of [control, gateway].entries()) {
      const part = (cpuMs(pid) - before[i]!) / tookMs;
      note(`${where}: ${name} used ${(part * 100).toFixed(0)} % of a core`);
      tally.check(part < MAX_CPU, `${where}: no storm of timers at ${name}`, () => part.toFixed(2));
    }
    const again = await stage.logInAnew().catch((error: unknown) => messageOf(error).slice(0, SHOWN_CHARS));
    // The clock of the provider is right, so its tokens are of the future for one that is behind.
    const isBehind = seconds < 0;
    const isRight = isBehind ? String(again).startsWith('not sent back: 502') : again === 200;
    tally.check(isRight, `${where}: a new log-in is ${isBehind ? 'refused' : 'accepted'}`, () =>
      String(again),
    );
  }
  setClock(0);
  await waitFor('credentials without an end are still accepted', lasting);
  return tally;
}

interface Stage {
  look(): Promise<Seen>;
  /** Logs in, and returns the status of a request with the new session. */
  logInAnew(): Promise<number>;
}

async function openStage(world: IdentityWorld): Promise<Stage> {
  const soon = new Date(Date.now() + HALF_HOUR_MS).toISOString();
  const staff = await world.addProvider('OIDC', 'staff');
  const keys = ['for-a-time', 'removed', 'lasting'].map((name) => ({
    name,
    key: `key-of-the-clock-row-${name}`,
  }));
  const withTime = { ...keys[0]!, expiresAt: soon };
  const data = { placement: 'header', name: 'X-Api-Key' };
  const keyed = await world.addProvider('API_KEY', 'keys', { ...data, keys: [withTime, ...keys.slice(1)] });
  const short = await world.share('short', [staff], { session: { absolute: 'PT30M', idle: 'PT30M' } });
  const long = await world.share('long', [staff]);
  const machines = await world.share('machines', [keyed, staff]);
  const timed = await world.share('timed', [], { expiresAt: soon });
  const open = await world.share('open', []);

  const insider = world.visitor();
  await insider.logIn(short, '/', 'ann');
  const leaver = world.visitor();
  await leaver.logIn(long, '/', 'ann');
  const cookies = new Map([...leaver.cookies].map(([host, jar]) => [host, new Map(jar)]));
  await leaver.ask(long, '/.frontdoor/logout');
  for (const [host, jar] of cookies) for (const [name, value] of jar) leaver.setCookie(host, name, value);
  const token = await world.provider.signToken({ sub: 'robot' }, { expiresInS: HALF_HOUR_MS / 1_000 });
  await world.call('PATCH', `/auth-providers/${keyed}`, { data: { keys: [withTime, keys[2]] } });

  const nobody = world.visitor();
  const ask = async (visitor: Visitor, host: string, headers: Record<string, string> = {}): Promise<number> =>
    (await visitor.ask(host, '/', { headers, navigates: false })).status;
  const withKey = (i: number): Promise<number> => ask(nobody, machines, { 'x-api-key': keys[i]!.key });
  return {
    look: async () => ({
      session: await ask(insider, short),
      token: await ask(nobody, machines, { authorization: `Bearer ${token}` }),
      'key for a time': await withKey(0),
      'share for a time': await ask(nobody, timed),
      'ended session': await ask(leaver, long),
      'removed key': await withKey(1),
      'lasting key': await withKey(2),
      'open share': await ask(nobody, open),
    }),
    logInAnew: async () => {
      const visitor = world.visitor();
      await visitor.logIn(long, '/', 'ann');
      return ask(visitor, long);
    },
  };
}
