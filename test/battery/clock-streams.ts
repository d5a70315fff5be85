/** Streams through a share while the clock of all parts is set two hours ahead, and two hours back. */
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '#base';
import type { IdentityWorld } from '../support/identity-world.ts';
import { openAll } from '../support/live-stream.ts';
import type { Tally } from './battery-row.ts';

const JUMP_S = 2 * 3_600;
/** More than the 30 s at which sessions and silent links are checked. */
const WATCHED_MS = 40_000;
const LOOK_MS = 500;

/** No stream may end, and a new one of each kind opens at any time. */
export async function checkStreams(
  tally: Tally,
  world: IdentityWorld,
  setClock: (seconds: number) => void,
): Promise<void> {
  const host = await world.share('streams', []);
  const visitor = world.visitor();
  let streams = await openAll(world, visitor, host, {});
  for (const seconds of [JUMP_S, 0, -JUMP_S, 0]) {
    setClock(seconds);
    const startedMs = performance.now();
    while (performance.now() - startedMs < WATCHED_MS && streams.every(({ isOpen }) => isOpen))
      await pause(LOOK_MS);
    const afterS = ((performance.now() - startedMs) / 1_000).toFixed(0);
    for (const { name, isOpen } of streams)
      tally.check(isOpen, `clock set to ${seconds} s: ${name} continues`, () => `cut within ${afterS} s`);
    for (const stream of streams) stream.close();
    try {
      streams = await openAll(world, visitor, host, {});
    } catch (error) {
      tally.check(false, `clock set to ${seconds} s: new streams open`, () => messageOf(error));
      return;
    }
    tally.check(true, 'new streams open');
  }
  for (const stream of streams) stream.close();
}
