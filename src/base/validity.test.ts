import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockProblem, validityProblem } from './validity.ts';

test('what is refused for its time is refused with both times', () => {
  const span = { fromMs: Date.UTC(2026, 0, 2), untilMs: Date.UTC(2026, 0, 3) };
  assert.equal(validityProblem(span, span.fromMs), undefined);
  assert.equal(validityProblem(span, span.untilMs), undefined);
  assert.equal(
    validityProblem(span, Date.UTC(1970, 0, 1)),
    'is not valid yet (it is valid from 2026-01-02T00:00:00Z, and the clock of this machine says 1970-01-01T00:00:00Z)',
  );
  assert.equal(
    validityProblem(span, Date.UTC(2027, 0, 1)),
    'has expired (it was valid until 2026-01-03T00:00:00Z, and the clock of this machine says 2027-01-01T00:00:00Z)',
  );
  assert.match(validityProblem({ fromMs: 0, untilMs: 1e300 }, -1)!, /valid from 1970/);
});

test('clocks that differ by more than a minute are named with both times', () => {
  const serverMs = Date.UTC(2026, 10, 28, 9, 40);
  assert.equal(clockProblem(serverMs, serverMs + 60_000), undefined);
  assert.equal(clockProblem(Number.NaN, serverMs), undefined);
  assert.equal(
    clockProblem(serverMs, serverMs - 3_600_000),
    'the clock of this machine says 2026-11-28T08:40:00Z, and that of the server says 2026-11-28T09:40:00Z: set the one that is wrong',
  );
});
