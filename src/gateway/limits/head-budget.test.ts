import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { DEFAULT_GATEWAY_LIMITS, headLimits } from './gateway-limits.ts';
import { HeadAllowance, HeadBudget } from './head-budget.ts';

const MAX_BYTES = 1_000;
const SMALL_BYTES = 100;

function budgetFor(parties: readonly string[]): {
  budget: HeadBudget;
  holders: HeadAllowance[];
  evicted: number[];
} {
  const budget = new HeadBudget({ maxHeadsBytes: MAX_BYTES, smallHeadBytes: SMALL_BYTES });
  const evicted: number[] = [];
  const holders = parties.map(
    (party, i) =>
      new HeadAllowance(
        () => party,
        () => evicted.push(i),
      ),
  );
  return { budget, holders, evicted };
}

describe('the budget of heads', () => {
  it('lets the head make room that has been unfinished for the longest', () => {
    const { budget, holders, evicted } = budgetFor(['a', 'b', 'c', 'd']);
    for (const holder of holders.slice(0, 3)) assert.ok(budget.hold(holder, 300));
    assert.ok(budget.hold(holders[0]!, 400));
    assert.ok(budget.hold(holders[3]!, 300));
    assert.deepEqual(evicted, [0]);
    budget.finish(holders[1]!);
    assert.equal(budget.bytes, 600);
  });

  it('refuses the only head when it alone is too much', () => {
    const { budget, holders, evicted } = budgetFor(['a']);
    assert.ok(budget.hold(holders[0]!, MAX_BYTES));
    assert.equal(budget.hold(holders[0]!, MAX_BYTES + 1), false);
    assert.deepEqual(evicted, []);
    assert.equal(budget.bytes, 0);
  });

  it('charges no small head whose request is served, and large ones with their copies, until the request is over', () => {
    const { budget, holders } = budgetFor(['a', 'b']);
    assert.ok(budget.serve(holders[0]!, SMALL_BYTES));
    assert.equal(budget.bytes, 0);
    assert.ok(budget.serve(holders[1]!, SMALL_BYTES + 10));
    assert.equal(budget.bytes, 30);
    budget.served(holders[1]!);
    budget.served(holders[1]!);
    assert.equal(budget.bytes, 0);
  });

  it('gives one client an eighth for large heads of running requests, and all clients a half', () => {
    const { budget, holders } = budgetFor(['a', 'a', 'a', 'b', 'c', 'd', 'e']);
    const large = SMALL_BYTES + 20;
    assert.deepEqual(
      holders.map((holder) => budget.serve(holder, large)),
      [true, true, false, true, true, true, true],
    );
    const more = budgetFor(['f', 'g', 'h', 'i', 'j']);
    const whole = SMALL_BYTES + 40;
    assert.deepEqual(
      more.holders.map((holder) => more.budget.serve(holder, whole)),
      [true, true, true, true, false],
    );
    more.budget.served(more.holders[0]!);
    assert.ok(more.budget.serve(more.holders[4]!, whole));
  });

  it('never holds more than its bytes, and nothing when all is over', () => {
    const step = fc.record({
      holder: fc.nat(7),
      act: fc.constantFrom('hold', 'serve', 'over'),
      bytes: fc.integer({ min: 1, max: 400 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { budget, holders } = budgetFor(['a', 'a', 'b', 'b', 'c', 'd', 'e', 'f']);
        for (const { holder: i, act, bytes } of steps) {
          const holder = holders[i]!;
          if (act === 'hold' && holder.servedBytes === 0) budget.hold(holder, holder.heldBytes + bytes);
          else if (act === 'serve' && holder.servedBytes === 0) {
            budget.finish(holder);
            budget.serve(holder, bytes);
          } else {
            budget.finish(holder);
            budget.served(holder);
          }
          assert.ok(budget.bytes <= MAX_BYTES);
        }
        for (const holder of holders) {
          budget.finish(holder);
          budget.served(holder);
        }
        assert.equal(budget.bytes, 0);
      }),
    );
  });
});

describe('the limits of heads that an operator sets', () => {
  it('apply to requests, and to responses only upwards', () => {
    const { maxResponseHeadBytes, maxResponseFields } = DEFAULT_GATEWAY_LIMITS;
    assert.deepEqual(headLimits({}), {});
    assert.deepEqual(headLimits({ maxBytes: 8_192, maxFields: 50 }), {
      maxHeadBytes: 8_192,
      maxRequestLineBytes: 8_192,
      maxResponseHeadBytes,
      maxFields: 50,
      maxResponseFields,
    });
    const larger = headLimits({ maxBytes: 131_072, maxFields: 400 });
    assert.deepEqual([larger.maxResponseHeadBytes, larger.maxResponseFields], [131_072, 400]);
  });
});
