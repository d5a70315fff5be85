// The way of a share: which hop is shown as broken.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brokenHop, wayOf } from './share-way.ts';

const access = { admits: 'some' };
const shown = (status: string, agent: string | undefined, shareMode = 'public', admits = 'some') =>
  wayOf({ status, shareMode, access: { admits } }, agent)
    .map(({ kind, state }) => `${kind} ${state}`)
    .join(', ');

describe('the way of a share', () => {
  it('works whole when its backend was reached', () => {
    assert.equal(shown('DEPLOYED', 'ACTIVE'), 'gateway unmeasured, router works, agent works, target works');
    assert.equal(brokenHop(wayOf({ status: 'DEPLOYED', shareMode: 'public', access }, undefined)), undefined);
  });

  it('is broken at the agent that is away, else at the target', () => {
    assert.equal(
      shown('FAILED', 'INACTIVE'),
      'gateway unmeasured, router unmeasured, agent broken, target unmeasured',
    );
    assert.equal(brokenHop(wayOf({ status: 'FAILED', shareMode: 'public', access }, 'ACTIVE')), 'target');
  });

  it('is closed at the gateway that admits nobody, though the service is reached', () => {
    assert.equal(
      shown('DEPLOYED', 'ACTIVE', 'public', 'nobody'),
      'gateway closed, router works, agent works, target works',
    );
  });

  it('waits for the first measurement', () => {
    assert.equal(
      shown('PENDING', 'ACTIVE', 'private'),
      'machine unmeasured, router works, agent works, target waiting',
    );
  });

  it('says nothing about states that it does not know', () => {
    assert.ok(!shown('SLEEPING', 'ACTIVE').includes('broken'));
    assert.ok(!shown('FAILED', 'SLEEPING').includes('broken'));
    assert.ok(!shown('FAILED', undefined).includes('broken'));
  });
});
