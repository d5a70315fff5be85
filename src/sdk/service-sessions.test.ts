// When a service session is used again, and when the control plane is asked.
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { FrontdoorError, ManualClock } from '#base';
import { ServiceSessions } from './service-sessions.ts';

const HALF_AN_HOUR_MS = 30 * 60_000;

describe('service sessions', () => {
  let clock: ManualClock;
  let asked: number;
  /** The session that the controller has; it answers a repeated request with this id and a void token. */
  let standing: string;
  let failure: FrontdoorError | undefined;
  let sessions: ServiceSessions;

  beforeEach(() => {
    clock = new ManualClock(1_000_000);
    asked = 0;
    standing = 'first';
    failure = undefined;
    sessions = new ServiceSessions({
      clock,
      create: async (serviceId, type) => {
        asked += 1;
        if (failure !== undefined) throw failure;
        return { id: standing, token: `${standing}-${asked}`, serviceId, type, routers: [] };
      },
    });
  });
  const token = async (): Promise<string> => (await sessions.get('service', 'Bind')).token;

  test('are requested once, by however many binds', async () => {
    assert.deepEqual(await Promise.all([token(), token()]), ['first-1', 'first-1']);
    assert.equal(await token(), 'first-1');
    assert.equal(asked, 1);
    assert.equal((await sessions.get('service', 'Dial')).token, 'first-2');
  });

  test('keep their token while the control plane answers with the same id', async () => {
    await token();
    sessions.refused({ serviceId: 'service', type: 'Bind' });
    assert.equal(await token(), 'first-1');
    clock.advance(HALF_AN_HOUR_MS);
    assert.equal(await token(), 'first-1');
    assert.equal(asked, 3);
    standing = 'second';
    sessions.refused({ serviceId: 'service', type: 'Bind' });
    assert.equal(await token(), 'second-4');
  });

  test('belong to an API session', async () => {
    await token();
    standing = 'second';
    sessions.forgetAll('Bind');
    assert.equal(await token(), 'second-2');
    const pending = (sessions.refused({ serviceId: 'service', type: 'Bind' }), token());
    sessions.forgetAll('Bind');
    assert.equal(await pending, await token());
    assert.equal(asked, 3);
  });

  test('outlive a control plane that is away, unless a router refused them, and end when it refuses', async () => {
    await token();
    clock.advance(HALF_AN_HOUR_MS);
    failure = new FrontdoorError('unavailable', 'unreachable', 'away');
    assert.equal(await token(), 'first-1');
    assert.equal(await token(), 'first-1');
    assert.equal(asked, 2);
    sessions.refused({ serviceId: 'service', type: 'Bind' });
    await assert.rejects(token(), { code: 'unreachable' });
    failure = undefined;
    assert.equal(await token(), 'first-4');
    failure = new FrontdoorError('notFound', 'http-404', 'no such service');
    clock.advance(HALF_AN_HOUR_MS);
    await assert.rejects(token(), { code: 'http-404' });
  });
});
