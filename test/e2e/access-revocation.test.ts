// A caller whose access is revoked is refused within five seconds of the acknowledged call, and the caller's streams
// are cut within ten. Every part is a process of its own.
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { accountRevocations, MAX_API_MS, type AccountRevocation } from '../support/account-revocation.ts';
import { startIdentityWorld, type IdentityWorld } from '../support/identity-world.ts';
import {
  KEY_HEADERS,
  MAX_CUT_MS,
  MAX_REFUSED_MS,
  openStage,
  REVOCATIONS,
  restore,
  timeRevocation,
  type Revocation,
  type RevocationTimes,
} from '../support/revocation.ts';
import { undisturbed } from '../support/undisturbed.ts';

const TIMES = 3;

describe('a caller with revoked access', () => {
  let world: IdentityWorld;
  before(async () => (world = await startIdentityWorld()));
  after(() => world?.close());

  describe('loses new requests and open streams,', { concurrency: true }, () => {
    for (const [index, revocation] of REVOCATIONS.entries()) {
      it(`when ${revocation.name}`, async (test) => {
        const stage = await openStage(world, `way-${index}`);
        for (let time = 0; time < TIMES; time += 1) {
          if (time > 0) await restore(stage);
          const run = (): Promise<RevocationTimes> => timeRevocation(revocation, stage);
          checkTimes(await undisturbed({ run, isGood: isInTime, restore: () => restore(stage) }), test);
        }
      });
    }
  });

  it('is refused by the Management API within a second when the account is deleted', async () => {
    const revocations = accountRevocations(world, Infinity);
    const run = async (): Promise<AccountRevocation> => (await revocations.next()).value as AccountRevocation;
    const isGood = ({ statuses, tookMs }: AccountRevocation): boolean =>
      statuses === '200 204 401' && tookMs <= MAX_API_MS;
    try {
      for (let time = 0; time < TIMES; time += 1) {
        const { statuses, tookMs } = await undisturbed({ run, isGood, restore: () => Promise.resolve() });
        assert.equal(statuses, '200 204 401');
        assert.ok(tookMs <= MAX_API_MS, `still admitted after ${tookMs.toFixed(0)} ms`);
      }
    } finally {
      await revocations.return(undefined);
    }
  });

  it('is refused when the environment of the share is deleted', async (test) => {
    const stage = await openStage(world, 'gone');
    const { environmentId } = await world.call<{ environmentId: string }>('GET', '/shares/gone');
    const revocation: Revocation = {
      name: 'the environment is deleted',
      prepare: () =>
        Promise.resolve({
          credentials: KEY_HEADERS,
          revoke: () => world.call('DELETE', `/environments/${environmentId}`),
        }),
    };
    checkTimes(await timeRevocation(revocation, stage), test);
    await world.parts.agent.kill();
  });
});

function isInTime({ refusedMs, cutMs }: RevocationTimes): boolean {
  return refusedMs <= MAX_REFUSED_MS && cutMs <= MAX_CUT_MS;
}

function checkTimes({ refusedMs, cutMs }: RevocationTimes, test: TestContext): void {
  test.diagnostic(`refused after ${refusedMs.toFixed(0)} ms, cut after ${cutMs.toFixed(0)} ms`);
  assert.ok(refusedMs <= MAX_REFUSED_MS, `still admitted after ${refusedMs.toFixed(0)} ms`);
  assert.ok(cutMs <= MAX_CUT_MS, `streams lasted ${cutMs.toFixed(0)} ms`);
}
