// Two control planes over one PostgreSQL, a gateway at each: people do not notice which of them they met.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/deadline.ts';
import { startIdentityWorld, type IdentityWorld, type SecondGateway } from '../support/identity-world.ts';
import { openSocket } from '../support/live-stream.ts';
import { goThroughProvider } from '../support/login-browser.ts';
import { postgresSkip, sharedPostgres } from '../support/postgres.ts';
import { SESSION_COOKIE, type Entrance } from '../support/visitor.ts';

const KNOWN_MS = 5_000;
const CUT_MS = 10_000;

describe('two control planes with a gateway each', { skip: postgresSkip }, () => {
  let world: IdentityWorld;
  let second: SecondGateway;
  let oidc: string;
  before(async () => {
    world = await startIdentityWorld({ database: await (await sharedPostgres()).createDatabase() });
    second = await world.startGateway('second-gateway', await world.startControl('second-control'));
    oidc = await world.addProvider('OIDC', 'staff');
  });
  after(() => world?.close());

  async function share(name: string): Promise<string> {
    const host = await world.share(name, [oidc]);
    await until('the other gateway guards it too', () => statusAt(second, host), isRefused, KNOWN_MS);
    return host;
  }

  async function statusAt(at: Entrance, host: string, session?: string): Promise<number> {
    const headers = { ...(session === undefined ? {} : { cookie: `${SESSION_COOKIE}=${session}` }) };
    return (await world.visitor().ask(host, '/', { headers, navigates: false, at })).status;
  }

  const isRefused = (status: number): boolean => status === 401;

  it('finish at either what was begun at the other', async () => {
    const host = await share('halves');
    for (const [begins, returns, redeems] of [
      [world, second, world],
      [second, world, second],
      [world, second, second],
      [second, world, world],
    ] as const) {
      const ann = world.visitor();
      const started = await ann.ask(host, '/wanted?x=1', { at: begins });
      assert.equal(started.status, 302, started.text);
      const back = await goThroughProvider(started.location, { user: 'ann' });
      const returned = await ann.ask(back.hostname, back.pathname + back.search, { at: returns });
      assert.equal(returned.status, 302, returned.text);
      const code = new URL(returned.location);
      const done = await ann.ask(code.hostname, code.pathname + code.search, { at: redeems });
      assert.deepEqual([done.status, done.location], [303, '/wanted?x=1'], done.text);
      for (const at of [world, second]) assert.equal(await statusAt(at, host, ann.cookie(host)), 200);
    }
  });

  it('end a session at both when it is ended at one, and cut what it holds open', async () => {
    const host = await share('ended');
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    const stream = await openSocket(second, host, { cookie: `${SESSION_COOKIE}=${session}` });
    assert.equal((await ann.ask(host, '/.frontdoor/logout', { method: 'POST' })).status, 200);
    await until('refused by the other', () => statusAt(second, host, session), isRefused, KNOWN_MS);
    await until(
      'its stream is cut',
      () => stream.isOpen,
      (isOpen) => !isOpen,
      CUT_MS,
    );
  });

  it('throw a person out at both when one of them was told to', async () => {
    const host = await share('left');
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    const stream = await openSocket(second, host, { cookie: `${SESSION_COOKIE}=${session}` });
    const ended = await world.call('DELETE', `/auth-providers/${oidc}/sessions?email=ann%40example.com`);
    assert.ok((ended as { ended: number }).ended >= 1);
    for (const at of [world, second])
      await until('refused', () => statusAt(at, host, session), isRefused, KNOWN_MS);
    await until(
      'its stream is cut',
      () => stream.isOpen,
      (isOpen) => !isOpen,
      CUT_MS,
    );
  });

  it('know a provider’s end within five seconds, whichever of them was told', async () => {
    const id = await world.addProvider('OIDC', 'short-lived');
    const host = await world.share('short-lived', [id]);
    const ann = world.visitor();
    await ann.logIn(host, '/', 'ann');
    const session = ann.cookie(host)!;
    assert.equal(await statusAt(second, host, session), 200);
    await world.call('PATCH', `/auth-providers/${id}`, { enabled: false });
    for (const at of [world, second])
      await until('refused', () => statusAt(at, host, session), isRefused, KNOWN_MS);
  });
});
