// Two control planes over one PostgreSQL, a gateway at each: people do not notice which of them they met.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { EntrancePair, untilCut } from '../support/entrance-pair.ts';
import { startIdentityWorld, type IdentityWorld, type SecondGateway } from '../support/identity-world.ts';
import { openSocket } from '../support/live-stream.ts';
import { postgresSkip, sharedPostgres } from '../support/postgres.ts';
import { SESSION_COOKIE } from '../support/visitor.ts';

describe('two control planes with a gateway each', { skip: postgresSkip }, () => {
  let world: IdentityWorld;
  let second: SecondGateway;
  let pair: EntrancePair;
  before(async () => {
    world = await startIdentityWorld({ database: await (await sharedPostgres()).createDatabase() });
    second = await world.startGateway('second-gateway', await world.startControl('second-control'));
    pair = new EntrancePair(world, second, await world.addProvider('OIDC', 'staff'));
  });
  after(() => world?.close());

  it('finish a log-in that was begun at the other', async () => {
    const host = await pair.share('halves');
    for (const [begins, returns, redeems] of [
      [world, second, world],
      [second, world, second],
      [world, second, second],
      [second, world, world],
    ] as const) {
      const ann = await pair.logInBy(host, begins, returns, redeems);
      for (const at of pair.both) assert.equal(await pair.statusAt(at, host, ann.cookie(host)), 200);
    }
  });

  it('end a session at both when it is ended at one, and cut its streams', async () => {
    await pair.assertEndsTogether(await pair.share('ended'));
  });

  it('end a person’s sessions at both when one of them is asked to', async () => {
    const host = await pair.share('left');
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    const stream = await openSocket(second, host, { cookie: `${SESSION_COOKIE}=${session}` });
    const ended = await world.call(
      'DELETE',
      `/auth-providers/${pair.providerId}/sessions?email=ann%40example.com`,
    );
    assert.ok((ended as { ended: number }).ended >= 1);
    for (const at of pair.both) await pair.untilRefused('refused', at, host, session);
    await untilCut('its stream is cut', stream);
  });

  it('apply the end of a provider within five seconds, whichever of them received the call', async () => {
    const id = await world.addProvider('OIDC', 'short-lived');
    const host = await world.share('short-lived', [id]);
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    assert.equal(await pair.statusAt(second, host, session), 200);
    await world.call('PATCH', `/auth-providers/${id}`, { enabled: false });
    for (const at of pair.both) await pair.untilRefused('refused', at, host, session);
  });
});
