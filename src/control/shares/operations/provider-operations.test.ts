import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, it } from 'node:test';
import { AUTH_PROVIDER_TYPES } from '#domain/provider-types';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { bindAccount, insertPerson } from '../../credentials/people/mod.ts';
import { BASE_URL, openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';

const noSecret = 'secret, as none is stored that may be kept';

const MASK = '********';
const oidc = { issuer: 'https://id.example', client_id: 'frontdoor' };
const withSecret = { ...oidc, client_secret: 'given once', scopes: ['openid'] };

interface Provider {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

describeEachStore('auth providers', (open) => {
  let world: ApiWorld;
  let frontdoorId: string;
  let path: string;

  before(async () => {
    world = await openApiWorld({ open });
  });
  beforeEach(async () => {
    const body = { name: 'Empty', organizationId: world.first.organizationId };
    frontdoorId = ((await world.call('POST', '/frontdoor', { body })).body as { id: string }).id;
    path = `/frontdoor/${frontdoorId}/auth-providers`;
  });
  after(() => world.close());

  async function made(body: object = { name: 'Staff', type: 'OIDC', data: withSecret }): Promise<Provider> {
    const answer = await world.call('POST', path, { body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body as Provider;
  }

  async function read(id: string): Promise<Provider> {
    return (await world.call('GET', `${path}/${id}`)).body as Provider;
  }

  function patch(id: string, body: unknown): Promise<CallAnswer> {
    return world.call('PATCH', `${path}/${id}`, { body });
  }

  function put(id: string, body: unknown): Promise<CallAnswer> {
    return world.call('PUT', `${path}/${id}`, { body });
  }

  function refused(answer: CallAnswer, property: string, type: string): void {
    assert.equal(answer.status, 400, answer.text);
    const message = `Value for ${property} must be of ${type}`;
    assert.deepEqual(answer.body, { error: 'invalid_request', message });
  }

  async function shareWith(name: string, authProviderIds: readonly string[]): Promise<CallAnswer> {
    const body = {
      name,
      environmentId: await world.addEnvironment(name, frontdoorId),
      shareMode: 'private',
      backendMode: 'proxy',
      target: 'http://backend:8080',
      authProviderIds,
    };
    return world.call('POST', `/frontdoor/${frontdoorId}/shares`, { body });
  }

  const services = () => [...world.catalog.all()].filter((service) => service.frontdoorId === frontdoorId);

  it('come back enabled and as they were given, with their place', async () => {
    const body = {
      name: '  Staff ',
      type: 'OIDC',
      data: withSecret,
      enabled: false,
      id: 'mine',
      createdAt: 5,
    };
    const { status, body: answer, headers } = await world.call('POST', path, { body });
    assert.equal(status, 201);
    const { id } = answer as Provider;
    assert.deepEqual(answer, { id, name: 'Staff', type: 'OIDC', enabled: true, data: withSecret });
    assert.deepEqual(Object.keys(answer as Provider), ['id', 'name', 'type', 'enabled', 'data']);
    assert.equal(headers['location'], `${BASE_URL}${path}/${id}`);
    assert.equal(headers['cache-control'], 'no-store');
  });

  it('show a secret in the answer to the write that set it, and masked ever after', async () => {
    const { id } = await made();
    const masked = { ...withSecret, client_secret: MASK };
    assert.deepEqual((await read(id)).data, masked);
    assert.deepEqual(((await patch(id, { name: 'Other' })).body as Provider).data, masked);
    const set = await patch(id, { data: { client_secret: 'another' } });
    assert.deepEqual((set.body as Provider).data, { ...withSecret, client_secret: 'another' });
    assert.deepEqual((await read(id)).data, masked);
    const open = await made({ name: 'Open', type: 'OIDC', data: oidc });
    assert.deepEqual((await read(open.id)).data, oidc, 'no mask where there is no secret');
  });

  it('keep the stored secret when its mask is sent, and drop it when it is left out', async () => {
    const { id } = await made();
    const stored = async (): Promise<unknown> => {
      const row = await world.store.db
        .selectFrom('auth_provider')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      assert.ok(!row.data.includes('given once'));
      return row.secrets_sealed === null ? null : JSON.parse(world.secrets.unseal(row.secrets_sealed));
    };
    const secret = { client_secret: 'given once' };
    assert.deepEqual(await stored(), secret);
    const seen = await read(id);
    assert.deepEqual((await put(id, seen)).body, seen, 'what was read may be sent back');
    assert.deepEqual(await stored(), secret);
    await patch(id, { data: { scopes: ['email'] } });
    await patch(id, { data: { client_secret: MASK } });
    assert.deepEqual(await stored(), secret);
    await put(id, { name: 'Staff', type: 'OIDC', data: oidc });
    assert.equal(await stored(), null);
    refused(await patch(id, { data: { client_secret: MASK } }), 'data.client_secret', noSecret);
    const masked = { name: 'x', type: 'OIDC', data: { ...oidc, client_secret: MASK } };
    refused(await world.call('POST', path, { body: masked }), 'data.client_secret', noSecret);
  });

  it('do not send a stored secret to an address chosen by a writer who does not have the secret', async () => {
    const { id } = await made();
    const elsewhere = [
      { issuer: 'https://elsewhere.example' },
      { client_id: 'another' },
      { discovery_url: 'https://elsewhere.example/.well-known/openid-configuration' },
    ];
    for (const data of elsewhere) {
      refused(await patch(id, { data }), 'data.client_secret', noSecret);
      const replaced = { name: 'x', type: 'OIDC', data: { ...withSecret, ...data, client_secret: MASK } };
      refused(await put(id, replaced), 'data.client_secret', noSecret);
      assert.equal((await patch(id, { data: { ...data, client_secret: 'given again' } })).status, 200);
      await put(id, { name: 'x', type: 'OIDC', data: withSecret });
    }
    const github = { client_id: withSecret.client_id, client_secret: MASK };
    refused(await put(id, { name: 'x', type: 'GITHUB', data: github }), 'data.client_secret', noSecret);
    assert.deepEqual((await read(id)).data, { ...withSecret, client_secret: MASK });
  });

  it('count the changes of what they prove, and a new name is none', async () => {
    const { id } = await made();
    const version = async (): Promise<number> => {
      const rows = world.store.db.selectFrom('auth_provider').select('version').where('id', '=', id);
      return (await rows.executeTakeFirstOrThrow()).version;
    };
    assert.equal(await version(), 1);
    await patch(id, { name: 'Another' });
    await put(id, { ...(await read(id)), name: 'A third' });
    await patch(id, { data: { client_secret: withSecret.client_secret } });
    assert.equal(await version(), 1, 'nothing that matters');
    await patch(id, { data: { client_secret: 'a new one' } });
    assert.equal(await version(), 2, 'the secret');
    await patch(id, { enabled: false });
    assert.equal(await version(), 3, 'disabled');
    await patch(id, { enabled: true });
    await patch(id, { data: { scopes: ['openid', 'groups'] } });
    assert.equal(await version(), 5, 'its data');
  });

  it('change in part: data merge one level deep, null removes, and the whole is validated', async () => {
    const { id } = await made();
    const renamed = await patch(id, { name: ' Renamed ' });
    assert.equal(renamed.status, 200);
    assert.equal(renamed.headers['cache-control'], 'no-store');
    const data = { ...withSecret, client_secret: MASK };
    assert.deepEqual(renamed.body, { id, name: 'Renamed', type: 'OIDC', enabled: true, data });
    const more = await patch(id, { data: { supports_pkce: true, scopes: ['email'], client_secret: null } });
    assert.deepEqual((more.body as Provider).data, { ...oidc, scopes: ['email'], supports_pkce: true });
    refused(await patch(id, { data: { issuer: null } }), 'data.issuer', 'uri');
    refused(await patch(id, { data: { issuer: 'here' } }), 'data.issuer', 'uri');
    refused(await patch(id, { data: { scopes: ['a', 5] } }), 'data.scopes.1', 'string');
    refused(await patch(id, { data: null }), 'data', 'object');
    refused(await patch(id, { type: 'API_KEY' }), 'data.placement', 'string');
    const misspelt = await patch(id, { naem: 'x' });
    assert.equal(misspelt.status, 400);
    assert.match((misspelt.body as { message: string }).message, /^Value for naem must be of name, /);
    assert.deepEqual((await read(id)).data, { ...oidc, scopes: ['email'], supports_pkce: true });
    assert.deepEqual((await patch(id, {})).body, await read(id), 'nothing to change is no mistake');
  });

  it('are replaced whole, their type too', async () => {
    const { id } = await made();
    const data = { client_id: 'a', client_secret: 'b' };
    const answer = await put(id, { name: 'Now GitHub', type: 'GITHUB', data });
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, { id, name: 'Now GitHub', type: 'GITHUB', enabled: true, data });
    refused(await put(id, { name: 'x', type: 'OIDC', data }), 'data.issuer', 'uri');
    refused(
      await put(id, { name: 'x', type: 'GITHUB', data: { client_id: 'a' } }),
      'data.client_secret',
      'string',
    );
    refused(await put(id, { type: 'GITHUB', data }), 'name', 'string');
    refused(await put(id, { name: 'x', type: 'GITHUB' }), 'data', 'object');
    refused(await put(id, { name: 'x', type: 'SAML', data }), 'type', AUTH_PROVIDER_TYPES.join(' or '));
    assert.equal((await read(id)).name, 'Now GitHub');
  });

  it('are disabled and enabled by PATCH and PUT', async () => {
    const { id } = await made();
    assert.equal(((await patch(id, { enabled: false })).body as Provider).enabled, false);
    assert.equal(((await patch(id, { name: 'Still off' })).body as Provider).enabled, false);
    const definition = { name: 'Staff', type: 'OIDC', data: oidc };
    assert.equal(((await put(id, definition)).body as Provider).enabled, false, 'absent: as it is');
    assert.equal(((await put(id, { ...definition, enabled: true })).body as Provider).enabled, true);
    refused(await patch(id, { enabled: 'no' }), 'enabled', 'boolean');
  });

  it('are named by their path alone', async () => {
    const [a, b] = [await made(), await made()];
    for (const id of [b.id, 'x', 5, null, { a: 1 }]) {
      refused(await patch(a.id, { id, name: 'stolen' }), 'id', a.id);
      refused(await put(a.id, { ...a, id }), 'id', a.id);
    }
    assert.deepEqual([(await read(a.id)).name, (await read(b.id)).name], ['Staff', 'Staff']);
    assert.equal((await patch(a.id.toUpperCase(), { id: a.id, name: 'mine' })).status, 200);
  });

  it('that are missing, or of another frontdoor, are missing alike', async () => {
    const { id } = await made();
    const foreign = `/frontdoor/${world.other.frontdoorId}/auth-providers`;
    const { authorization } = world.other;
    const missing = randomUUID();
    for (const [url, named] of [
      [`${path}/${missing}`, missing],
      [`${foreign}/${id}`, id],
    ] as const) {
      for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
        const body = { name: 'x', type: 'OIDC', data: oidc };
        const answer = await world.call(method, url, {
          ...(method === 'PATCH' || method === 'PUT' ? { body } : {}),
          ...(url.startsWith(foreign) ? { authorization } : {}),
        });
        assert.equal(answer.status, 404, `${method} ${url}`);
        const message = `Auth provider ${named} not found`;
        assert.deepEqual(answer.body, { error: 'not_found', message });
      }
    }
    refused(await world.call('GET', `${path}/nope`), 'id', 'UUID');
    assert.equal(
      (await world.call('GET', `${foreign}/nope`)).status,
      400,
      'the form comes before the frontdoor',
    );
    assert.equal((await read(id)).name, 'Staff');
  });

  it('are listed without data, in counted pages, sorted by any of their fields', async () => {
    const names = ['b', 'a', 'c', 'a', 'd'];
    for (const [at, name] of names.entries()) {
      world.clock.advance(1);
      const { id } = await made({
        name,
        type: at % 2 === 0 ? 'OIDC' : 'GITHUB',
        data: at % 2 === 0 ? oidc : login,
      });
      if (at === 2) await patch(id, { enabled: false });
    }
    const list = async (query: string): Promise<{ content: Provider[] } & Record<string, unknown>> =>
      (await world.call('GET', `${path}${query}`)).body as { content: Provider[] } & Record<string, unknown>;
    const all = await list('');
    assert.deepEqual(all['pageable'], { pageNumber: 0, pageSize: 20 });
    assert.deepEqual([all['totalElements'], all['totalPages']], [5, 1]);
    assert.deepEqual(
      all.content.map(({ name }) => name),
      names,
    );
    for (const entry of all.content) assert.deepEqual(Object.keys(entry), ['id', 'name', 'type', 'enabled']);
    const byName = await list('?page=1&size=2&sort=name,asc');
    assert.deepEqual([byName['totalElements'], byName['totalPages']], [5, 3]);
    assert.deepEqual(
      byName.content.map(({ name }) => name),
      ['b', 'c'],
    );
    for (const field of ['name', 'type', 'enabled', 'id'] as const) {
      for (const direction of ['asc', 'desc']) {
        const { content } = await list(`?sort=${field},${direction}`);
        const sorted = content.toSorted((x, y) => {
          const order = compare(String(x[field]), String(y[field])) || compare(x.id, y.id);
          return direction === 'asc' ? order : -order;
        });
        assert.deepEqual(content, sorted, `${field} ${direction}`);
        const pages = [];
        for (const page of [0, 1, 2, 3, 4]) {
          pages.push(...(await list(`?page=${page}&size=1&sort=${field},${direction}`)).content);
        }
        assert.deepEqual(pages, content, 'pages never overlap');
      }
    }
    const sort = 'name or type or enabled or id or createdAt';
    refused(await world.call('GET', `${path}?sort=data,asc`), 'sort', sort);
    assert.deepEqual((await list('?page=9')).content, []);
    assert.equal((await list('?page=9'))['totalElements'], 5);
  });

  it('shut a share, in the order that it names them', async () => {
    const [a, b] = [await made(), await made()];
    const share = await shareWith('wiki', [b.id, a.id, b.id]);
    assert.equal(share.status, 201, share.text);
    assert.deepEqual((share.body as { authProviderIds: unknown }).authProviderIds, [b.id, a.id]);
    const [service] = services();
    assert.deepEqual(service?.authProviderIds, [b.id, a.id]);
    const url = `/frontdoor/${frontdoorId}/shares/wiki`;
    const changed = await world.call('PATCH', url, { body: { authProviderIds: [a.id] } });
    assert.deepEqual((changed.body as { authProviderIds: unknown }).authProviderIds, [a.id]);
    const same = await world.call('PATCH', url, { body: { target: 'http://other:1' } });
    assert.deepEqual((same.body as { authProviderIds: unknown }).authProviderIds, [a.id]);
    const missing = await world.call('PATCH', url, { body: { authProviderIds: [a.id, randomUUID()] } });
    assert.equal(missing.status, 404);
    const opened = await world.call('PATCH', url, { body: { authProviderIds: [] } });
    assert.deepEqual((opened.body as { authProviderIds: unknown }).authProviderIds, []);
  });

  it('of another frontdoor shut no share: they are missing', async () => {
    const answer = await world.call('POST', `/frontdoor/${world.other.frontdoorId}/auth-providers`, {
      authorization: world.other.authorization,
      body: { name: 'Theirs', type: 'OIDC', data: oidc },
    });
    const { id } = answer.body as Provider;
    const share = await shareWith('wiki', [id]);
    assert.equal(share.status, 404);
    assert.deepEqual(share.body, { error: 'not_found', message: `Auth provider ${id} not found` });
    assert.deepEqual(services(), [], 'nor is there an open one');
  });

  it('that change are recorded with every share that they close', async () => {
    const { id } = await made();
    await shareWith('wiki', [id]);
    const [service] = services();
    const changed: string[] = [];
    world.store.onChange((changes) => {
      for (const change of changes)
        if (change.entity !== 'audit') changed.push(`${change.entity} ${change.id}`);
    });
    await patch(id, { enabled: false });
    assert.deepEqual(changed.toSorted(), [
      `auth-provider ${id}`,
      `resource ${service!.frontdoorId} auth-provider ${id}`,
      `share ${service!.id}`,
    ]);
  });

  it('show what uses them, and are kept while people log in at the console with them', async () => {
    const data = { issuer: 'https://id.example', client_id: 'a', client_secret: 's' };
    const created = await world.call('POST', path, { body: { name: 'used', type: 'OIDC', data } });
    const { id } = created.body as { id: string };
    const uses = async () => (await world.call('GET', `${path}/${id}/uses`)).body;
    const none = { shares: [], shareCount: 0, customFrontends: [], consoleLogInId: null };
    assert.deepEqual(await uses(), none);
    for (const name of ['used-b', 'used-a']) assert.equal((await shareWith(name, [id])).status, 201);
    const { id: frontendId } = await world.store.db
      .selectFrom('frontend')
      .select('id')
      .executeTakeFirstOrThrow();
    const body = { hostname: 'used.example', frontendId, authProviderIds: [id] };
    const frontends = `/frontdoor/${frontdoorId}/custom-frontends`;
    const frontend = (await world.call('POST', frontends, { body })).body as { id: string };
    const logIn = await world.call('POST', '/console-log-ins', { body: { authProviderId: id } });
    assert.equal(logIn.status, 201, logIn.text);
    const { id: consoleLogInId } = logIn.body as { id: string };
    const { shares, ...others } = (await uses()) as { shares: { token: string }[] };
    assert.deepEqual(
      shares.map(({ token }) => token),
      ['used-a', 'used-b'],
    );
    assert.deepEqual(others, {
      shareCount: 2,
      customFrontends: [{ id: frontend.id, hostname: 'used.example' }],
      consoleLogInId,
    });
    const kept = await world.call('DELETE', `${path}/${id}`);
    assert.equal(
      (kept.body as { message: string }).message,
      `Auth provider ${id} is used by shares used-a, used-b and custom frontend used.example and the console sign-in`,
    );
    for (const name of ['used-a', 'used-b'])
      await world.call('DELETE', `/frontdoor/${frontdoorId}/shares/${name}`);
    await world.call('DELETE', `${frontends}/${frontend.id}`);
    assert.equal((await world.call('DELETE', `${path}/${id}`)).status, 409);
    await world.call('DELETE', `/console-log-ins/${consoleLogInId}`);
    assert.deepEqual(await uses(), none);
    assert.equal((await world.call('DELETE', `${path}/${id}`)).status, 204);
    assert.equal((await world.call('GET', `${path}/${id}/uses`)).status, 404);
  });

  it('that people log in with at the console are changed only by who may give the roles of these people', async () => {
    const { id } = await made();
    const { organizationId } = world.first;
    const asked = async (scopes: string) => {
      const { authorization } = await world.addAccount(organizationId, scopes);
      return async (change: object) =>
        (await world.call('PATCH', `${path}/${id}`, { authorization, body: change })).status;
    };
    const editor = await asked('frontdoor.read frontdoor.write');
    const administrator = await asked('frontdoor.read frontdoor.write frontdoor.organization');
    const operator = await asked('frontdoor.read frontdoor.write frontdoor.admin');
    const evil = { data: { issuer: 'https://evil.example', client_secret: 'another' } };
    assert.equal(await editor(evil), 200);
    const roles = [{ group: 'staff', role: 'reader' }];
    const body = { authProviderId: id, roles };
    assert.equal((await world.call('POST', '/console-log-ins', { body })).status, 201);
    for (const change of [evil, { enabled: false }, { type: 'GOOGLE' }, { name: 'Other' }])
      assert.equal(await editor(change), 403);
    assert.equal(await administrator(evil), 200);
    const { db } = world.store;
    const person = await insertPerson(db, {
      organizationId,
      name: 'Ann',
      email: null,
      role: 'operator',
      nowMs: world.clock.nowMs(),
    });
    await bindAccount(db, id, 'ann', person.id);
    assert.equal(await administrator(evil), 403);
    assert.equal(await operator(evil), 200);
    const { authorization } = await world.addAccount(organizationId, 'frontdoor.read frontdoor.write');
    const deleted = await world.call('DELETE', `/frontdoor/${frontdoorId}`, { authorization });
    assert.equal(deleted.status, 403, 'without the provider, none of these people is known');
    assert.equal((await read(id)).id, id);
  });

  it('are deleted when nothing uses them; else the users are named', async () => {
    const { id } = await made();
    const one = await shareWith('wiki', [id]);
    assert.equal(one.status, 201);
    const kept = await world.call('DELETE', `${path}/${id}`);
    assert.equal(kept.status, 409);
    assert.deepEqual(kept.body, { error: 'conflict', message: `Auth provider ${id} is used by share wiki` });
    for (let at = 0; at < 12; at += 1) await shareWith(`s${String(at).padStart(2, '0')}`, [id]);
    const { message } = (await world.call('DELETE', `${path}/${id}`)).body as { message: string };
    const named = Array.from({ length: 10 }, (_, at) => `s${String(at).padStart(2, '0')}`).join(', ');
    assert.equal(message, `Auth provider ${id} is used by shares ${named} and others`);
    await world.store.db.deleteFrom('share').where('frontdoor_id', '=', frontdoorId).execute();
    const gone = await world.call('DELETE', `${path}/${id}`);
    assert.deepEqual([gone.status, gone.text], [204, '']);
    assert.equal((await world.call('DELETE', `${path}/${id}`)).status, 404);
  });

  it('changed by fifty at once keep one serial order, without a lost update', async () => {
    const { id } = await made({ name: 'start', type: 'OIDC', data: oidc });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => {
        if (at === 40) return world.call('DELETE', `${path}/${id}`);
        if (at % 5 === 0)
          return put(id, { name: `put ${at}`, type: 'OIDC', data: { ...oidc, client_id: `${at}` } });
        return at % 2 === 0 ? patch(id, { name: `patch ${at}` }) : patch(id, { data: { scopes: [`${at}`] } });
      }),
    );
    const events = await world.store.db
      .selectFrom('audit_event')
      .select(['action', 'before', 'after'])
      .where('target_id', '=', id)
      .orderBy('sequence')
      .execute();
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 204).length, 1);
    assert.ok(statuses.every((status) => status === 200 || status === 204 || status === 404));
    const acknowledged = statuses.filter((status) => status !== 404).length;
    assert.equal(events.length, 1 + acknowledged, 'each acknowledged change has its event, and no other');
    assert.equal(events.at(-1)?.action, 'deleteAuthProvider');
    for (const [at, event] of events.entries()) {
      assert.equal(
        event.before,
        events[at - 1]?.after ?? null,
        `change ${at} began where the one before ended`,
      );
    }
    assert.equal((await world.call('GET', `${path}/${id}`)).status, 404);
  });

  it('stand in the audit trail with their secrets masked', async () => {
    const { id } = await made();
    await patch(id, { data: { client_secret: 'a second one' } });
    await world.call('DELETE', `${path}/${id}`);
    const events = await world.store.db
      .selectFrom('audit_event')
      .selectAll()
      .where('target_id', '=', id)
      .orderBy('sequence')
      .execute();
    assert.deepEqual(
      events.map(({ action, target_kind }) => [action, target_kind]),
      ['createAuthProvider', 'changeAuthProvider', 'deleteAuthProvider'].map((action) => [
        action,
        'auth-provider',
      ]),
    );
    const text = JSON.stringify(events);
    assert.ok(text.includes(MASK) && !text.includes('given once') && !text.includes('a second one'));
    assert.deepEqual(JSON.parse(events[0]!.after!), JSON.parse(events[1]!.before!));
  });
});

const login = { client_id: 'a', client_secret: 'b' };

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
