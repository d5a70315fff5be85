import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlowBodies, type SlowBody } from './slow-bodies.ts';

const LIMITS = { slowBodyMs: 90_000, maxSlowBodies: 10, maxSlowBodiesPerAddress: 4 };

class Body implements SlowBody {
  readonly address: string;
  readonly wasFast: boolean;
  isCut = false;

  constructor(address: string, wasFast = false) {
    this.address = address;
    this.wasFast = wasFast;
  }

  cut(): void {
    this.isCut = true;
  }
}

function joined(slow: SlowBodies, bodies: readonly Body[], nowMs = 0): readonly Body[] {
  for (const body of bodies) slow.join(body, nowMs);
  return bodies;
}

const crowd = (count: number, address: string, wasFast = false): Body[] =>
  Array.from({ length: count }, () => new Body(address, wasFast));

test('a crowd from one address is cut whole, and slow bodies of other addresses stay', () => {
  const slow = new SlowBodies(LIMITS);
  const [other] = joined(slow, crowd(1, 'other'));
  const bodies = joined(slow, crowd(1_000, 'crowd'));
  assert.ok(bodies.every(({ isCut }) => isCut));
  assert.equal(other?.isCut, false);
  assert.deepEqual([slow.count, slow.cutCount], [1, 1_000]);
});

test('the pressure of an address ends after a while', () => {
  const slow = new SlowBodies(LIMITS);
  joined(slow, crowd(5, 'a'));
  const [during] = joined(slow, crowd(1, 'a'), 89_000);
  const [after] = joined(slow, crowd(1, 'a'), 90_000);
  assert.deepEqual([during?.isCut, after?.isCut], [true, false]);
});

test('of bodies that were fast before, the one goes that has been slow for longest', () => {
  const slow = new SlowBodies(LIMITS);
  const bodies = joined(slow, crowd(5, 'a', true));
  assert.deepEqual(
    bodies.map(({ isCut }) => isCut),
    [true, false, false, false, false],
  );
  assert.equal(slow.count, 4);
});

test('many addresses together have a part, too, and the never fast go first', () => {
  const slow = new SlowBodies(LIMITS);
  const honest = joined(
    slow,
    ['a', 'b', 'c'].map((address) => new Body(address, true)),
  );
  const many = joined(
    slow,
    Array.from({ length: 50 }, (_, index) => new Body(`address ${index}`)),
  );
  assert.ok(many.every(({ isCut }) => isCut));
  assert.ok(honest.every(({ isCut }) => !isCut));
  assert.equal(slow.count, 3);
});

test('a body that leaves makes room', () => {
  const slow = new SlowBodies(LIMITS);
  const bodies = joined(slow, crowd(4, 'a'));
  slow.leave(bodies[0]!);
  joined(slow, crowd(1, 'a'));
  assert.equal(slow.cutCount, 0);
});
