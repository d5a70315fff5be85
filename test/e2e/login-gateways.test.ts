// Several gateways over one control plane: what one begins another may continue with, and what ends at one ends at all.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/deadline.ts';
import { EntrancePair } from '../support/entrance-pair.ts';
import type { IdentityWorld, SecondGateway } from '../support/identity-world.ts';
import { releaseWorld, sharedIdentityPair } from '../support/shared-world.ts';

const BACK_MS = 15_000;

describe('two gateways', () => {
  let world: IdentityWorld;
  let second: SecondGateway;
  let pair: EntrancePair;
  before(async () => {
    ({ world, second } = await sharedIdentityPair());
    pair = new EntrancePair(world, second, await world.addProvider('OIDC', 'staff'));
  });
  after(releaseWorld);

  it('share sessions: one made at the first is accepted at the second', async () => {
    const host = await pair.share('both');
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    assert.equal(await pair.statusAt(second, host, session), 200);
    assert.equal(await pair.statusAt(world, host, session), 200);
  });

  it('share a log-in under way: begun at one, returned to the other, redeemed at the first', async () => {
    const host = await pair.share('halves');
    for (const [begins, returns, redeems] of [
      [world, second, world],
      [second, world, second],
    ] as const) {
      const ann = await pair.logInBy(host, begins, returns, redeems);
      assert.equal(await pair.statusAt(begins, host, ann.cookie(host)), 200);
    }
  });

  it('redeem a code once between them, also when requests race for it', async () => {
    const host = await pair.share('raced');
    for (let round = 0; round < 10; round += 1) {
      const ann = world.visitor();
      const { pathname, search } = await ann.comeBack(host, '/', 'ann');
      const answers = await Promise.all(
        [world, second, world, second].map((at) => ann.ask(host, pathname + search, { at })),
      );
      const made = answers.filter(({ status }) => status === 303);
      assert.equal(made.length, 1, answers.map(({ status }) => status).join(' '));
    }
  });

  it('end a session together: a log-out at one refuses and cuts at the other', async () => {
    await pair.assertEndsTogether(await pair.share('ended'));
  });

  it('both apply the end of a provider within five seconds', async () => {
    const id = await world.addProvider('OIDC', 'short-lived');
    const host = await world.share('short-lived', [id]);
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    assert.equal(await pair.statusAt(second, host, session), 200);
    await world.call('PATCH', `/auth-providers/${id}`, { enabled: false });
    for (const at of pair.both) {
      await pair.untilRefused('refused', at, host, session);
      assert.equal((await world.visitor().ask(host, '/', { at })).status, 503);
    }
  });

  it('accept existing sessions while the control plane is down, and new log-ins once it is back', async () => {
    const host = await pair.share('outage');
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    for (const at of pair.both) assert.equal(await pair.statusAt(at, host, session), 200);
    await world.parts.control.kill();
    for (const at of pair.both) {
      assert.equal(await pair.statusAt(at, host, session), 200);
      const stranger = await world.visitor().ask(host, '/', { at });
      assert.equal(stranger.status, 503);
    }
    await world.parts.control.start();
    for (const at of pair.both) {
      const later = world.visitor();
      const logIn = async (): Promise<number> => (await later.logIn(host, '/', 'ann', { at })).status;
      await until('log-ins work again', logIn, (status) => status === 303, BACK_MS);
      // A router that is not back yet makes no circuit.
      const ask = (): Promise<number> => pair.statusAt(at, host, session);
      const { value } = await until('circuits again', ask, (status) => status < 500, BACK_MS);
      assert.equal(value, 200);
    }
  });
});
