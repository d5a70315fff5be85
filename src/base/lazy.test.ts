import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lazy } from './lazy.ts';

describe('lazy', () => {
  it('makes its value once, at the first call', () => {
    let calls = 0;
    const value = lazy(() => {
      calls += 1;
      return undefined;
    });
    assert.equal(calls, 0);
    value();
    value();
    assert.equal(calls, 1);
  });

  it('tries again after a failure that was thrown', () => {
    let calls = 0;
    const value = lazy(() => {
      calls += 1;
      if (calls === 1) throw new Error('not yet');
      return calls;
    });
    assert.throws(value, /not yet/);
    assert.equal(value(), 2);
    assert.equal(value(), 2);
  });
});
