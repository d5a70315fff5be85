import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { LastUses, type LastUse } from './last-uses.ts';

const MINUTE_MS = 60_000;

it('last uses are written at most once a minute for each id, the latest one, and all at the end', async () => {
  const clock = new ManualClock();
  const written: LastUse[] = [];
  const uses = openUses(clock, (some) => void written.push(...some));
  const startMs = clock.nowMs();
  uses.saw('a', '192.0.2.1');
  clock.advance(10);
  uses.saw('a');
  uses.saw('b');
  await uses.flush();
  assert.deepEqual(shown(written, startMs), ['a 10 192.0.2.1', 'b 10 none']);
  for (let i = 0; i < 5; i += 1) {
    clock.advance(MINUTE_MS / 6);
    uses.saw('a');
    await uses.flush();
  }
  assert.equal(written.length, 2);
  clock.advance(MINUTE_MS / 6);
  await uses.flush();
  assert.deepEqual(shown(written.slice(2), startMs), [`a ${10 + (5 * MINUTE_MS) / 6} none`]);
  uses.saw('b');
  await uses.close();
  assert.equal(written.length, 4);
});

it('last uses that could not be written stay due', async () => {
  const clock = new ManualClock();
  const written: LastUse[] = [];
  let isBroken = true;
  const uses = openUses(clock, (some) => {
    if (isBroken) throw new Error('the database is away');
    written.push(...some);
  });
  uses.saw('a', '192.0.2.1');
  await uses.flush();
  isBroken = false;
  await uses.flush();
  assert.deepEqual(shown(written, clock.nowMs()), ['a 0 192.0.2.1']);
  await uses.close();
  assert.equal(written.length, 1);
});

function openUses(clock: ManualClock, write: (uses: readonly LastUse[]) => void): LastUses {
  return new LastUses({ clock, log: silentLog, what: 'uses', write: async (uses) => write(uses) });
}

function shown(uses: readonly LastUse[], startMs: number): string[] {
  return uses.map(({ id, atMs, address }) => `${id} ${atMs - startMs} ${address ?? 'none'}`);
}
