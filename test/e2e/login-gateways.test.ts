// Several gateways over one control plane: what one begins another may go on with, and what ends at one ends at all.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { goThroughProvider } from '../support/login-browser.ts';
import { until } from '../support/deadline.ts';
import { startIdentityWorld, type IdentityWorld, type SecondGateway } from '../support/identity-world.ts';
import { openSocket } from '../support/live-stream.ts';
import { SESSION_COOKIE, type Entrance } from '../support/visitor.ts';

const KNOWN_MS = 5_000;
const CUT_MS = 10_000;
const BACK_MS = 15_000;

describe('two gateways', () => {
  let world: IdentityWorld;
  let second: SecondGateway;
  let oidc: string;
  before(async () => {
    world = await startIdentityWorld();
    second = await world.startGateway('second');
    oidc = await world.addProvider('OIDC', 'staff');
  });
  after(() => world?.close());

  async function share(name: string): Promise<string> {
    const host = await world.share(name, [oidc]);
    const statusOf = async (): Promise<number> =>
      (await world.visitor().ask(host, '/ready', { navigates: false, at: second })).status;
    await until('the second gateway guards it too', statusOf, (status) => status === 401, KNOWN_MS);
    return host;
  }

  async function statusAt(at: Entrance, host: string, session: string): Promise<number> {
    const headers = { cookie: `${SESSION_COOKIE}=${session}` };
    return (await world.visitor().ask(host, '/', { headers, navigates: false, at })).status;
  }

  it('know the same sessions: one made at the first lets in at the second', async () => {
    const host = await share('both');
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    assert.equal(await statusAt(second, host, session), 200);
    assert.equal(await statusAt(world, host, session), 200);
  });

  it('share a log-in in the making: begun at one, back at the other, redeemed at the first', async () => {
    const host = await share('halves');
    for (const [begins, returns, redeems] of [
      [world, second, world],
      [second, world, second],
    ] as const) {
      const ann = world.visitor();
      const started = await ann.ask(host, '/wanted?x=1', { at: begins });
      assert.equal(started.status, 302);
      const back = await goThroughProvider(started.location, { user: 'ann' });
      const returned = await ann.ask(back.hostname, back.pathname + back.search, { at: returns });
      assert.equal(returned.status, 302, returned.text);
      const code = new URL(returned.location);
      const done = await ann.ask(code.hostname, code.pathname + code.search, { at: redeems });
      assert.deepEqual([done.status, done.location], [303, '/wanted?x=1'], done.text);
      assert.equal(await statusAt(begins, host, ann.cookie(host)!), 200);
    }
  });

  it('redeem a code once between them, however it is raced for', async () => {
    const host = await share('raced');
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
    const host = await share('ended');
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    const stream = await openSocket(second, host, { cookie: `${SESSION_COOKIE}=${session}` });
    assert.equal((await ann.ask(host, '/.frontdoor/logout', { method: 'POST' })).status, 200);
    await until(
      'the second gateway refuses it',
      () => statusAt(second, host, session),
      (status) => status === 401,
      KNOWN_MS,
    );
    await until(
      'its stream is cut',
      () => stream.isOpen,
      (isOpen) => !isOpen,
      CUT_MS,
    );
  });

  it('know a provider’s end together, within five seconds', async () => {
    const id = await world.addProvider('OIDC', 'short-lived');
    const host = await world.share('short-lived', [id]);
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    assert.equal(await statusAt(second, host, session), 200);
    await world.call('PATCH', `/auth-providers/${id}`, { enabled: false });
    for (const at of [world, second]) {
      await until(
        'refused',
        () => statusAt(at, host, session),
        (status) => status === 401,
        KNOWN_MS,
      );
      assert.equal((await world.visitor().ask(host, '/', { at })).status, 503);
    }
  });

  it('go on letting in those they know while the control plane is down, and log in others once it is back', async () => {
    const host = await share('outage');
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    for (const at of [world, second]) assert.equal(await statusAt(at, host, session), 200);
    await world.parts.control.kill();
    for (const at of [world, second]) {
      assert.equal(await statusAt(at, host, session), 200);
      const stranger = await world.visitor().ask(host, '/', { at });
      assert.equal(stranger.status, 503);
    }
    await world.parts.control.start();
    for (const at of [world, second]) {
      const later = world.visitor();
      const logIn = async (): Promise<number> => (await later.logIn(host, '/', 'ann', { at })).status;
      await until('log-ins work again', logIn, (status) => status === 303, BACK_MS);
      // A router that is not back yet makes no circuit, whoever asks.
      const ask = (): Promise<number> => statusAt(at, host, session);
      const { value } = await until('circuits again', ask, (status) => status < 500, BACK_MS);
      assert.equal(value, 200);
    }
  });
});
