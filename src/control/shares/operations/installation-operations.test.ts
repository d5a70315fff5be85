// Where the parts of the installation are, and whether an auth provider's issuer can be used.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { InstallationAnswer } from '#contract/schemas';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { migrations } from '../../store/migrations/migration-table.ts';

const ISSUER = 'https://idp.example.com';
const published = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/jwks`,
};
const DAY_MS = 86_400_000;

describeEachStore('the Management API', (open) => {
  let world: ApiWorld;
  let issuer: Readonly<Record<string, unknown>> | undefined = published;
  let slow: (() => Promise<void>) | undefined;
  before(async () => {
    const get = async (url: string) => {
      await slow?.();
      if (issuer === undefined) throw new Error('idp.example.com is on a private network');
      const json = url.endsWith('/jwks') ? { keys: [] } : issuer;
      return { status: 200, headers: {}, text: '', json };
    };
    const installation = {
      securePort: () => 8_443,
      version: '0.1.0',
      edgeApiUrl: () => 'https://control.example:1280',
      controlPlanes: () => [
        { apiUrl: 'https://a.example', silentSinceMs: undefined },
        { apiUrl: 'https://b.example', silentSinceMs: 1_000 },
      ],
      egress: { get },
      names: { of: async () => undefined, txt: async () => undefined },
    };
    const router = { id: 'r', name: 'east', hostname: 'east.example', port: 3022, isOnline: true };
    world = await openApiWorld({ open, installation, edgeRouters: () => [router] });
  });
  after(() => world.close());

  const door = (path: string): string => `/frontdoor/${world.first.frontdoorId}${path}`;
  const add = async (type: string, data: object): Promise<string> => {
    const answer = await world.call('POST', door('/auth-providers'), { body: { name: 'x', type, data } });
    assert.equal(answer.status, 201, answer.text);
    return (answer.body as { id: string }).id;
  };
  const check = async (id: string) => {
    const { status, body, text } = await world.call('POST', door(`/auth-providers/${id}/check`));
    assert.equal(status, 200, text);
    return body as { callbackUrls: string[]; discovery: string; problem: string | null };
  };

  it('shows where parts are to readers, and what is away to administrators alone', async () => {
    const { first } = world;
    const enroll = async (name: string, endsInDays: number): Promise<void> => {
      const id = await world.addEnvironment(name);
      const nowMs = world.clock.nowMs();
      await world.store.db.deleteFrom('certificate').where('identity_id', '=', id).execute();
      await world.store.db
        .insertInto('certificate')
        .values({
          fingerprint: name,
          identity_id: id,
          spki_sha256: name,
          not_after: nowMs + endsInDays * DAY_MS,
          created_at: nowMs + (endsInDays - 30) * DAY_MS,
        })
        .execute();
    };
    await enroll('fresh', 20);
    await enroll('late', 5);
    const routers = [{ name: 'east', address: 'east.example:3022', online: true }];
    const edgeApiUrl = 'https://control.example:1280';
    const { body } = await world.call('GET', '/installation');
    const { database, ...answer } = body as InstallationAnswer;
    assert.equal(database?.schema, Object.keys(migrations).at(-1));
    assert.ok(database !== undefined && database.bytes > 0);
    assert.deepEqual(answer, {
      version: '0.1.0',
      edgeApiUrl,
      mail: true,
      routers,
      controlPlanes: [
        { apiUrl: 'https://a.example', silentSince: null },
        { apiUrl: 'https://b.example', silentSince: '1970-01-01T00:00:01.000Z' },
      ],
      overdueCertificates: [
        {
          kind: 'environment',
          name: 'late',
          expiresAt: new Date(world.clock.nowMs() + 5 * DAY_MS).toISOString(),
        },
      ],
    });
    const { authorization } = await world.addAccount(first.organizationId, 'frontdoor.read');
    const seen = await world.call('GET', '/installation', { authorization });
    assert.deepEqual(seen.body, { version: '0.1.0', edgeApiUrl, mail: true, routers });
  });

  it('checks a provider: the callback addresses to register, and why its issuer cannot be used', async () => {
    const id = await add('OIDC', { issuer: ISSUER, client_id: 'c', client_secret: 'very-secret-indeed' });
    const callback = `https://oauth.share.localhost:8443/${id}/auth/callback`;
    assert.deepEqual(await check(id), { callbackUrls: [callback], discovery: 'ok', problem: null });
    const frontends = (await world.call('GET', door('/frontends'))).body as { id: string }[];
    const custom = { hostname: 'apps.example.com', frontendId: frontends[0]!.id };
    await world.call('POST', door('/custom-frontends'), { body: custom });
    const both = [callback, `https://oauth.apps.example.com:8443/${id}/auth/callback`];
    assert.deepEqual((await check(id)).callbackUrls, both);

    issuer = { ...published, issuer: 'https://other.example.com' };
    assert.deepEqual(await check(id), {
      callbackUrls: both,
      discovery: 'failed',
      problem: 'the metadata are of another issuer',
    });
    issuer = undefined;
    assert.match((await check(id)).problem!, /private network/);

    const keys = await add('API_KEY', { placement: 'bearer', keys: [{ name: 'ci' }] });
    assert.deepEqual(await check(keys), { callbackUrls: [], discovery: 'none', problem: null });
    const github = await add('GITHUB', { client_id: 'c', client_secret: 'very-secret-indeed' });
    assert.deepEqual(
      [(await check(github)).discovery, (await check(github)).callbackUrls.length],
      ['none', 2],
    );
    const missing = await world.call('POST', door(`/auth-providers/${world.first.accountId}/check`));
    assert.equal(missing.status, 404);
  });

  it('checks a draft of a provider, which is not stored, and records whom it made the control plane ask', async () => {
    const checkDraft = async (type: string, data: object) => {
      const answer = await world.call('POST', door('/auth-provider-check'), { body: { type, data } });
      return [answer.status, answer.body] as const;
    };
    const draft = { issuer: ISSUER, client_id: 'c', client_secret: 'very-secret-indeed' };
    issuer = published;
    assert.deepEqual(await checkDraft('OIDC', draft), [200, { discovery: 'ok', problem: null }]);
    const events = await world.store.db
      .selectFrom('audit_event')
      .select(['action', 'target_id', 'after'])
      .where('action', '=', 'checkAuthProviderDraft')
      .execute();
    assert.deepEqual(
      events.map(({ target_id: target, after }) => [target, JSON.parse(after!) as unknown]),
      [[world.first.frontdoorId, { type: 'OIDC', issuer: ISSUER }]],
    );
    issuer = undefined;
    const [, failed] = await checkDraft('OIDC', { ...draft, client_secret: '********' });
    assert.partialDeepStrictEqual(failed, { discovery: 'failed' });
    const [status, refusal] = await checkDraft('OIDC', { ...draft, issuer: 'not an address' });
    assert.equal(status, 400);
    assert.match((refusal as { message: string }).message, /^Value for data\.issuer must be of /);
  });

  it('reserves the ID of a provider, whose callback addresses can be registered before it is created', async () => {
    interface Reserved {
      readonly id: string;
      readonly reservation: string;
      readonly callbackUrls: readonly string[];
      readonly consoleCallbackUrl: string;
    }
    const reserve = async () => {
      const answer = await world.call('POST', door('/auth-provider-reservation'));
      assert.equal(answer.status, 200, answer.text);
      return answer.body as Reserved;
    };
    const reserved = await reserve();
    assert.notEqual((await reserve()).id, reserved.id);
    assert.ok(reserved.consoleCallbackUrl.endsWith(`/console/callback/${reserved.id}`));
    const create = (reservation: string) => {
      const data = { client_id: 'c', client_secret: 'very-secret-indeed' };
      return world.call('POST', door('/auth-providers'), {
        body: { name: 'reserved', type: 'GITHUB', data, reservation },
      });
    };
    const made = await create(reserved.reservation);
    assert.equal(made.status, 201, made.text);
    assert.equal((made.body as Reserved).id, reserved.id);
    assert.equal('reservation' in (made.body as object), false);
    assert.deepEqual((await check(reserved.id)).callbackUrls, reserved.callbackUrls);
    assert.equal((await create(reserved.reservation)).status, 409, 'it counts once');
    const late = await reserve();
    world.clock.advance(7 * DAY_MS);
    for (const wrong of [late.reservation, `${late.reservation}x`, 'made up', reserved.id]) {
      const refused = await create(wrong);
      assert.equal(refused.status, 400, refused.text);
      assert.match((refused.body as { message: string }).message, /^Value for reservation must be of /);
    }
  });

  it('refuses a ninth check while eight wait for their issuers', async () => {
    const waiting = Array.from({ length: 8 }, () => Promise.withResolvers<void>());
    const gate = Promise.withResolvers<void>();
    let asked = 0;
    slow = async () => {
      waiting[asked++]?.resolve();
      await gate.promise;
    };
    issuer = published;
    const body = {
      type: 'OIDC',
      data: { issuer: ISSUER, client_id: 'c', client_secret: 'very-secret-indeed' },
    };
    const check = () => world.call('POST', door('/auth-provider-check'), { body });
    const eight = waiting.map(check);
    await Promise.all(waiting.map(({ promise }) => promise));
    const ninth = await check();
    assert.deepEqual([ninth.status, ninth.headers['retry-after']], [429, '1']);
    gate.resolve();
    assert.deepEqual([...new Set((await Promise.all(eight)).map(({ status }) => status))], [200]);
  });
});
