/**
 * A6: revocation of access that is in use. Each way a hundred times, with a WebSocket, an event stream and a download
 * open; API tokens and accounts; then the control plane stops answering, and comes back.
 */
import { suspend, resume } from '../support/process-faults.ts';
import { within } from '../support/deadline.ts';
import { startIdentityWorld, type IdentityWorld } from '../support/identity-world.ts';
import { openAll } from '../support/live-stream.ts';
import { accountRevocations, MAX_API_MS } from '../support/account-revocation.ts';
import {
  KEY_HEADERS,
  MAX_CUT_MS,
  MAX_REFUSED_MS,
  openStage,
  restore,
  REVOCATIONS,
  timeRevocation,
  type Revocation,
  type RevocationStage,
} from '../support/revocation.ts';
import { Tally, type BatteryRow, type BatteryRowContext } from './battery-row.ts';

/** The guaranteed time, and a second for the check itself. */
const TRUST_MS = 60_000;
const MAX_BACK_MS = 15_000;
const LOOK_MS = 50;

export const REVOCATION_ROW: BatteryRow = {
  id: 'A6',
  title: 'revoked access ends in time, on new requests and on open streams',
  // The product of the battery has no certificates of identity's zones: this row starts its own.
  hasOwnProduct: true,
  run: async (context) => {
    const tally = new Tally();
    const world = await startIdentityWorld();
    try {
      await Promise.all(
        REVOCATIONS.map((revocation, i) => checkWay(tally, context, world, revocation, `way-${i}`)),
      );
      await checkAccounts(tally, context, world);
      if (!context.quick) await checkSilence(tally, context, await openStage(world, 'silence'));
    } finally {
      await world.close();
    }
    return tally;
  },
};

/** At a share of its own, so that all ways are gone at the same time. */
async function checkWay(
  tally: Tally,
  { quick, note }: BatteryRowContext,
  world: IdentityWorld,
  revocation: Revocation,
  shareName: string,
): Promise<void> {
  const stage = await openStage(world, shareName);
  const refused: number[] = [];
  const cut: number[] = [];
  for (let time = 0; time < (quick ? 10 : 100); time += 1) {
    try {
      if (time > 0) await restore(stage);
      const { refusedMs, cutMs } = await timeRevocation(revocation, stage);
      refused.push(refusedMs);
      cut.push(cutMs);
      tally.check(refusedMs <= MAX_REFUSED_MS, `${revocation.name}: new requests`, () => `${refusedMs} ms`);
      tally.check(cutMs <= MAX_CUT_MS, `${revocation.name}: open streams`, () => `${cutMs} ms`);
    } catch (error) {
      tally.check(false, revocation.name, () => String(error));
    }
  }
  const times = `refused after at most ${most(refused)} ms, streams cut after at most ${most(cut)} ms`;
  note(`${revocation.name}: ${times}`);
}

/** The Management API itself. */
async function checkAccounts(
  tally: Tally,
  { quick, note }: BatteryRowContext,
  world: IdentityWorld,
): Promise<void> {
  const times: number[] = [];
  for await (const { statuses, tookMs } of accountRevocations(world, quick ? 10 : 100)) {
    times.push(tookMs);
    const name = 'a deleted account’s token at the API';
    tally.check(
      statuses === '200 204 401' && tookMs <= MAX_API_MS,
      name,
      () => `${statuses} after ${tookMs} ms`,
    );
  }
  note(`an account is deleted: its token refused after at most ${most(times)} ms`);
}

/** The control plane is stopped as by a debugger: its connections stay open, and it sends nothing. */
async function checkSilence(
  tally: Tally,
  { note }: BatteryRowContext,
  stage: RevocationStage,
): Promise<void> {
  const { world, host } = stage;
  const openHost = await world.share('open', []);
  const visitor = world.visitor();
  const ask = async (at: string, headers = {}): Promise<number> => {
    try {
      return (await visitor.ask(at, '/silence', { headers, navigates: false })).status;
    } catch {
      return 0;
    }
  };
  const streams = await openAll(world, visitor, host, KEY_HEADERS);
  const openStreams = await openAll(world, visitor, openHost, {});
  // Circuits that stand continue; new ones are the control plane's to allow.
  await ask(host, KEY_HEADERS);
  await ask(openHost);
  const load = watchOpen(() => ask(openHost));
  suspend(world.parts.control);
  const startedMs = performance.now();
  const cut = Promise.all(streams.map(({ ended }) => ended)).then(() => performance.now() - startedMs);
  try {
    let status = await ask(host, KEY_HEADERS);
    while (status === 200 && performance.now() - startedMs < TRUST_MS * 2) {
      await pause(LOOK_MS);
      status = await ask(host, KEY_HEADERS);
    }
    const refusedMs = performance.now() - startedMs;
    tally.check(status === 503, 'a guarded share answers 503', () => String(status));
    tally.check(refusedMs <= TRUST_MS + MAX_API_MS, 'in time', () => `${refusedMs} ms`);
    const cutMs = await within('streams are cut', cut, MAX_CUT_MS).catch(() => -1);
    tally.check(cutMs >= 0 && cutMs <= TRUST_MS + MAX_CUT_MS, 'its streams are cut', () => `${cutMs} ms`);
    const hits = world.origin.hits(host);
    for (let time = 0; time < 100; time += 1) {
      const seen = [await ask(host, KEY_HEADERS), await ask(host)];
      tally.check(
        seen.every((each) => each === 503),
        'stays shut',
        () => seen.join(' '),
      );
    }
    tally.check(world.origin.hits(host) === hits, 'nothing reaches the service');
    tally.check(
      openStreams.every(({ isOpen }) => isOpen),
      'streams of an open share continue',
    );
    note(`silence: 503 after ${refusedMs.toFixed(0)} ms, streams cut after ${cutMs.toFixed(0)} ms`);
  } finally {
    resume(world.parts.control);
  }
  const backMs = await timeBack(() => ask(host, KEY_HEADERS));
  tally.check(backMs <= MAX_BACK_MS, 'admits callers again', () => `${backMs} ms`);
  const { asked, good } = await load.stop();
  tally.count(good, asked - good, 'requests to an open share in the meantime');
  note(`back ${backMs.toFixed(0)} ms after the control plane; an open share answered ${good} of ${asked}`);
  for (const stream of [...streams, ...openStreams]) stream.close();
}

function watchOpen(ask: () => Promise<number>) {
  let isOver = false;
  let [asked, good] = [0, 0];
  const running = (async () => {
    while (!isOver) {
      asked += 1;
      if ((await ask()) === 200) good += 1;
      await pause(LOOK_MS);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await running;
      return { asked, good };
    },
  };
}

async function timeBack(ask: () => Promise<number>): Promise<number> {
  const startedMs = performance.now();
  while ((await ask()) !== 200) {
    if (performance.now() - startedMs > MAX_BACK_MS * 4) return Infinity;
    await pause(LOOK_MS);
  }
  return performance.now() - startedMs;
}

function most(times: readonly number[]): string {
  return Math.max(0, ...times).toFixed(0);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
