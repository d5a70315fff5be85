import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validityProblem } from './validity.ts';

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
