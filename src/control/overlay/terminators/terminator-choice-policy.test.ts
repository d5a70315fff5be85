import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SeededRandom } from '../../../../test/support/seeded-random.ts';
import type { TerminatorStrategy } from '#domain';
import { chooseTerminator, type Candidate } from './terminator-choice-policy.ts';

type Named = Candidate & { readonly id: string };

const [DEFAULT, REQUIRED, FAILED] = [0, 1, 2] as const;

function candidate(id: string, more: Partial<Candidate> = {}): Named {
  return { id, precedence: DEFAULT, cost: 0, isHealthy: true, ...more };
}

/** How often each is taken in 6,000 choices. */
function shares(candidates: readonly Named[], strategy: TerminatorStrategy): Record<string, number> {
  const random = new SeededRandom(5);
  const counts: Record<string, number> = {};
  for (let round = 0; round < 6_000; round += 1) {
    const { id } = chooseTerminator(candidates, () => random.int(1_000_000) / 1_000_000, strategy)!;
    counts[id] = (counts[id] ?? 0) + 1;
  }
  return counts;
}

function isAbout(value: number | undefined, expected: number): boolean {
  return value !== undefined && Math.abs(value - expected) < 200;
}

test('smartrouting takes the cheapest, and any of equals alike', () => {
  assert.deepEqual(shares([candidate('a', { cost: 2 }), candidate('b', { cost: 1 })], 'smartrouting'), {
    b: 6_000,
  });
  const equal = shares([candidate('a'), candidate('b'), candidate('c', { cost: 1 })], 'smartrouting');
  assert.ok(isAbout(equal.a, 3_000) && isAbout(equal.b, 3_000) && equal.c === undefined);
});

test('weighted takes one of twice the cost half as often', () => {
  const counts = shares(
    [candidate('a', { cost: 10 }), candidate('b', { cost: 20 }), candidate('c', { cost: 20 })],
    'weighted',
  );
  assert.ok(
    isAbout(counts.a, 3_000) && isAbout(counts.b, 1_500) && isAbout(counts.c, 1_500),
    JSON.stringify(counts),
  );
});

test('random chooses all of the best precedence equally often, at any cost', () => {
  const counts = shares(
    [candidate('a', { cost: 1 }), candidate('b', { cost: 9_000 }), candidate('c', { precedence: FAILED })],
    'random',
  );
  assert.ok(isAbout(counts.a, 3_000) && isAbout(counts.b, 3_000) && counts.c === undefined);
});

test('ha stays with the active one although another is cheaper, until three dials in a row failed', () => {
  const active = candidate('a', { cost: 50, isActive: true, failuresInARow: 2 });
  assert.deepEqual(shares([active, candidate('b')], 'ha'), { a: 6_000 });
  assert.deepEqual(shares([{ ...active, failuresInARow: 3 }, candidate('b')], 'ha'), { b: 6_000 });
  assert.deepEqual(shares([candidate('a', { cost: 5 }), candidate('b', { cost: 4 })], 'ha'), { b: 6_000 });
  assert.deepEqual(shares([active, candidate('b', { precedence: REQUIRED })], 'ha'), { b: 6_000 });
});

test('recently failed ones come last, before them unhealthy ones, then precedence decides, under every strategy', () => {
  const order = [
    candidate('required', { precedence: REQUIRED, cost: 9_000 }),
    candidate('default', { cost: 5 }),
    candidate('failed', { precedence: FAILED }),
    candidate('unhealthy', { precedence: REQUIRED, isHealthy: false }),
    candidate('tried', { precedence: REQUIRED, hasFailed: true }),
  ];
  for (const strategy of ['smartrouting', 'weighted', 'random', 'ha'] as const) {
    const left = [...order].reverse();
    const taken: string[] = [];
    while (left.length > 0) {
      const chosen = chooseTerminator(left, Math.random, strategy)!;
      taken.push(chosen.id);
      left.splice(left.indexOf(chosen), 1);
    }
    assert.deepEqual(
      taken,
      order.map(({ id }) => id),
      strategy,
    );
  }
  assert.equal(chooseTerminator([], Math.random), undefined);
});
