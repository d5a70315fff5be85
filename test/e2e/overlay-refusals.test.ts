// The log and the organization's audit trail name each identity that the overlay refuses, with the reason.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkRefusals } from '../support/overlay-refusals.ts';

describe('on the overlay', () => {
  it('each refusal names the refused identity and the reason', async (test) => {
    const checks = await checkRefusals();
    const bad = checks.filter(({ problem }) => problem !== undefined);
    test.diagnostic(`${checks.length - bad.length} of ${checks.length}`);
    assert.deepEqual(bad, []);
    assert.ok(checks.length >= 17);
  });
});
