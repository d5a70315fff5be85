// Streams of changes at the console: they end with their session, and keep no session from its idle end.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { silentLog } from '#base';
import type { Role } from '#domain';
import { postgresSkip } from '../../../test/support/postgres.ts';
import { openStream, type StreamReader } from '../shares/operations/event-stream-fixture.ts';
import { describeEachStore, newPostgresPlace } from '../store/engine/each-store-suite.ts';
import { openStore } from '../store/mod.ts';
import { providerCredential } from '../credentials/accounts/mod.ts';
import { CONSOLE_HOST, openConsoleWorld, TestBrowser, type ConsoleWorld } from './console-fixture.ts';

const MINUTE_MS = 60_000;
/** What a stream may take longer than its session. */
const END_MS = 5_000;

describeEachStore('a stream of changes at the console', (open) => {
  let world: ConsoleWorld;
  let changes: string;
  let names = 0;
  before(async () => {
    world = await openConsoleWorld({ open });
    await world.app.listen({ host: '127.0.0.1', port: 0 });
    changes = `/frontdoor/${world.api.first.frontdoorId}/changes`;
  });
  after(() => world.close());

  async function follow(browser: TestBrowser, path = changes): Promise<StreamReader> {
    const headers = { host: CONSOLE_HOST, cookie: browser.cookie!, 'sec-fetch-site': 'same-origin' };
    const stream = await openStream(world.app, `/console/api${path}`, headers);
    assert.equal(stream.response.statusCode, 200);
    await stream.until(/^id: /m);
    return stream;
  }

  async function person(role: Role): Promise<{ readonly id: string; readonly browser: TestBrowser }> {
    names += 1;
    const browser = await world.person(role, `p${names}@example.com`);
    const caller = (await browser.call('GET', '/caller')).json<{ id: string }>();
    return { id: caller.id, browser };
  }

  /** Makes a change of the frontdoor, and returns the id of what changed. */
  async function change(): Promise<string> {
    names += 1;
    const data = { placement: 'header', name: 'X-Key', keys: [{ name: 'a' }] };
    const path = `/frontdoor/${world.api.first.frontdoorId}/auth-providers`;
    const made = await world.api.call('POST', path, {
      body: { name: `keys ${names}`, type: 'API_KEY', data },
    });
    assert.equal(made.status, 201, made.text);
    return (made.body as { id: string }).id;
  }

  async function endsAfter(stream: StreamReader, act: () => Promise<unknown>): Promise<void> {
    await act();
    const startMs = performance.now();
    await stream.ended;
    const tookMs = performance.now() - startMs;
    assert.ok(tookMs < END_MS, `the stream ended after ${Math.round(tookMs)} ms`);
    const unseen = await change();
    assert.ok(!stream.text.includes(unseen));
  }

  it('is not buffered by proxies', async () => {
    const { browser } = await person('reader');
    const { response } = await follow(browser);
    const { 'x-accel-buffering': buffering, 'cache-control': caching } = response.headers;
    assert.deepEqual([buffering, caching], ['no', 'no-store']);
    response.destroy();
  });

  it('ends within five seconds of a log-out, and others of the same person continue', async () => {
    const { browser } = await person('reader');
    const stays = await world.person('reader', 'stays@example.com');
    const [ended, other] = [await follow(browser), await follow(stays)];
    await endsAfter(ended, () => browser.post('/console/log-out', {}));
    const id = await change();
    await other.until(new RegExp(id));
    other.response.destroy();
  });

  it('ends within five seconds when an administrator ends the session, or removes the person', async () => {
    const first = await person('reader');
    const { content } = (await first.browser.call('GET', '/console-sessions')).json<{
      content: { id: string }[];
    }>();
    const operator = await person('operator');
    const stream = await follow(first.browser);
    await endsAfter(stream, () => operator.browser.call('DELETE', `/console-sessions/${content[0]!.id}`));
    const second = await person('reader');
    const removed = await follow(second.browser);
    await endsAfter(removed, () => operator.browser.call('DELETE', `/people/${second.id}`));
  });

  it('ends within five seconds of a changed role, and the next one has what the role permits', async () => {
    const operator = await person('operator');
    const former = await person('operator');
    const [mesh, own] = [await follow(former.browser, '/fabric/changes'), await follow(former.browser)];
    const take = () => operator.browser.call('PATCH', `/people/${former.id}`, { role: 'reader' });
    await Promise.all([endsAfter(mesh, take), own.ended]);
    assert.equal((await former.browser.call('GET', '/fabric/changes')).statusCode, 403);
    const again = await follow(former.browser);
    await again.until(new RegExp(await change()));
    again.response.destroy();
  });

  it('ends within five seconds when the identity provider is disabled that the session began with', async () => {
    const { frontdoorId } = world.api.first;
    const path = `/frontdoor/${frontdoorId}/auth-providers`;
    const data = { issuer: 'https://idp.example.com', client_id: 'console', client_secret: 'a secret' };
    const made = await world.api.call('POST', path, { body: { name: 'staff', type: 'OIDC', data } });
    assert.equal(made.status, 201, made.text);
    const { id: authProviderId } = made.body as { id: string };
    const logIn = { authProviderId, roles: [{ email: '*@example.com', role: 'reader' }] };
    const offered = await world.api.call('POST', '/console-log-ins', { body: logIn });
    assert.equal(offered.status, 201, offered.text);
    const credential = providerCredential((offered.body as { id: string }).id, 1);
    const [through, other] = [await person('reader'), await person('reader')];
    await world.api.store.db
      .updateTable('console_session')
      .set({ auth_provider_id: authProviderId, credential })
      .where('person_id', '=', through.id)
      .execute();
    const [stream, stays] = [await follow(through.browser), await follow(other.browser)];
    const disable = () => world.api.call('PATCH', `${path}/${authProviderId}`, { body: { enabled: false } });
    await endsAfter(stream, disable);
    assert.equal((await through.browser.call('GET', '/caller')).statusCode, 401);
    await stays.until(new RegExp(await change()));
    stays.response.destroy();
  });

  it('is no use of the session, which ends with the idle time', async () => {
    const { browser } = await person('reader');
    const stream = await follow(browser);
    const opened = world.api.clock.nowMs();
    world.api.clock.advance(10 * 60 * MINUTE_MS);
    // A change of an account makes each stream look at its session before the next event.
    const body = { name: 'new', organizationId: world.api.first.organizationId, scopes: ['frontdoor.read'] };
    assert.equal((await world.api.call('POST', '/api-accounts', { body })).status, 201);
    await stream.until(new RegExp(await change()));
    const rows = await world.api.store.db
      .selectFrom('console_session')
      .selectAll()
      .where('last_used_at', '>', opened)
      .execute();
    assert.deepEqual(rows, []);
    await endsAfter(stream, async () => world.api.clock.advance(2 * 60 * MINUTE_MS));
    assert.equal((await browser.call('GET', '/caller')).statusCode, 401);
  });
});

describe('sessions at two control planes', { skip: postgresSkip }, () => {
  let world: ConsoleWorld;
  let other: FastifyInstance;
  let operator: TestBrowser;
  let people = 0;
  const closers: (() => Promise<unknown> | void)[] = [];
  before(async () => {
    const place = await newPostgresPlace();
    world = await openConsoleWorld({ open: (options) => openStore({ ...place, ...options }) });
    closers.push(() => world.close());
    const store = await openStore({ ...place, log: silentLog });
    closers.push(() => store.close());
    other = await world.openAnother(store);
    closers.push(() => other.close());
    await other.listen({ host: '127.0.0.1', port: 0 });
    operator = await world.person('operator', 'operator@example.com');
  });
  after(async () => {
    for (const close of closers.reverse()) await close();
  });

  const person = (): Promise<TestBrowser> => {
    people += 1;
    return world.person('operator', `person${people}@example.com`);
  };
  const idOf = async (browser: TestBrowser): Promise<string> =>
    (await browser.call('GET', '/caller')).json<{ id: string }>().id;

  /** Ends the person's session at one control plane while the other has a stream of it. */
  async function endsAtOther(
    { cookie }: TestBrowser,
    end: () => Promise<LightMyRequestResponse>,
    status: number,
  ): Promise<void> {
    const headers = { host: CONSOLE_HOST, cookie: cookie!, 'sec-fetch-site': 'same-origin' };
    const url = '/console/api/fabric/changes';
    const stream = await openStream(other, url, headers);
    assert.equal(stream.response.statusCode, 200);
    await stream.until(/^id: /m);
    const answer = await end();
    assert.ok(answer.statusCode < 300, answer.body);
    const startMs = performance.now();
    const { statusCode } = await other.inject({ method: 'GET', url, headers });
    assert.equal(statusCode, status);
    await stream.ended;
    const tookMs = performance.now() - startMs;
    assert.ok(tookMs < END_MS, `the stream ended after ${Math.round(tookMs)} ms`);
  }

  it('end at both, with their streams, within five seconds of a role, a person or a session that ends at one', async () => {
    const [changed, removed, ended] = [await person(), await person(), await person()];
    const [changedId, removedId, endedId] = await Promise.all([changed, removed, ended].map(idOf));
    const toReader = { role: 'reader' };
    await endsAtOther(changed, () => operator.call('PATCH', `/people/${changedId}`, toReader), 403);
    await endsAtOther(removed, () => operator.call('DELETE', `/people/${removedId}`), 401);
    const { content } = (await operator.call('GET', '/console-sessions')).json<{
      content: { id: string; personId: string | null }[];
    }>();
    const { id } = content.find(({ personId }) => personId === endedId)!;
    await endsAtOther(ended, () => operator.call('DELETE', `/console-sessions/${id}`), 401);
  });

  it('end at both, with their streams, within five seconds of an identity provider that is disabled or goes at one', async () => {
    const { organizationId } = world.api.first;
    const post = async <T>(path: string, body: object): Promise<T> => {
      const made = await operator.call('POST', path, body);
      assert.equal(made.statusCode, 201, made.body);
      return made.json<T>();
    };
    /** A provider of a frontdoor of its own, and a person whose session began with it. */
    const through = async () => {
      const door = await post<{ id: string }>('/frontdoor', { name: 'of a provider', organizationId });
      const providers = `/frontdoor/${door.id}/auth-providers`;
      const data = { issuer: 'https://idp.example.com', client_id: 'console', client_secret: 'a secret' };
      const provider = await post<{ id: string }>(providers, { name: 'staff', type: 'OIDC', data });
      const logIn = await post<{ id: string }>('/console-log-ins', { authProviderId: provider.id });
      const browser = await person();
      await world.api.store.db
        .updateTable('console_session')
        .set({ auth_provider_id: provider.id, credential: providerCredential(logIn.id, 1) })
        .where('person_id', '=', await idOf(browser))
        .execute();
      return {
        browser,
        frontdoor: `/frontdoor/${door.id}`,
        provider: `${providers}/${provider.id}`,
        logIn: `/console-log-ins/${logIn.id}`,
      };
    };
    const [first, second, third] = [await through(), await through(), await through()];
    const stays = await person();
    const disable = () => operator.call('PATCH', first.provider, { enabled: false });
    await endsAtOther(first.browser, disable, 401);
    await endsAtOther(second.browser, () => operator.call('DELETE', second.logIn), 401);
    await endsAtOther(third.browser, () => operator.call('DELETE', third.frontdoor), 401);
    assert.equal((await stays.call('GET', '/caller')).statusCode, 200);
  });

  it('end at both, with their streams, within five seconds of a password that is changed at one', async () => {
    const browser = await person();
    const email = `person${people}@example.com`;
    const elsewhere = new TestBrowser(world.app);
    assert.equal((await elsewhere.logIn(email)).statusCode, 303);
    const fields = { current: 'plum giraffe engine 47', password: 'seven small harbours' };
    const changed = async () => {
      const answer = await elsewhere.post('/console/password', fields);
      assert.equal(answer.statusCode, 303, answer.body);
      return elsewhere.call('GET', '/caller');
    };
    await endsAtOther(browser, changed, 401);
  });
});
