import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

type Page = {
  content: Record<string, unknown>[];
  pageable: { pageNumber: number; pageSize: number };
  totalElements?: number;
  totalPages?: number;
};

/** The environment has never called and has no shares. */
const unseen = { lastSeenAt: null, remoteAddress: null, shareCount: 0 };

describeEachStore('environments and agents', (open) => {
  let world: ApiWorld;
  let root: string;
  before(async () => {
    world = await openApiWorld({ open });
    root = `/frontdoor/${world.first.frontdoorId}`;
  });
  after(() => world.close());

  it('are listed in pages without totals, with exactly id, name and status', async () => {
    const ids: string[] = [];
    for (const name of ['b', 'a', 'c', 'a', 'd']) {
      world.clock.advance(1);
      ids.push(await world.addEnvironment(name));
    }
    world.connected.add(ids[1]!);
    const { status, body } = await world.call('GET', `${root}/environments?page=0&size=3`);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      content: [
        { id: ids[0], name: 'b', status: 'INACTIVE' },
        { id: ids[1], name: 'a', status: 'ACTIVE' },
        { id: ids[2], name: 'c', status: 'INACTIVE' },
      ],
      pageable: { pageNumber: 0, pageSize: 3 },
    });
    const last = (await world.call('GET', `${root}/environments?page=1&size=3`)).body as Page;
    assert.deepEqual(
      last.content.map(({ id }) => id),
      [ids[3], ids[4]],
    );
    const beyond = (await world.call('GET', `${root}/environments?page=99&size=3`)).body as Page;
    assert.deepEqual(beyond, { content: [], pageable: { pageNumber: 99, pageSize: 3 } });
  });

  it('are sorted by name or id, ties by id, so that pages never overlap', async () => {
    const listed = async (query: string): Promise<Record<string, unknown>[]> =>
      ((await world.call('GET', `${root}/environments?${query}`)).body as Page).content;
    const byName = await listed('sort=name,asc');
    assert.deepEqual(
      byName.map(({ name }) => name),
      ['a', 'a', 'b', 'c', 'd'],
    );
    assert.ok(String(byName[0]!['id']) < String(byName[1]!['id']));
    assert.deepEqual(await listed('sort=name'), byName);
    assert.deepEqual((await listed('sort=name,desc')).toReversed(), byName);
    const pages = [await listed('sort=name&size=2&page=0'), await listed('sort=name&size=2&page=1')];
    assert.deepEqual(pages.flat(), byName.slice(0, 4));
    const ids = (await listed('sort=id')).map(({ id }) => String(id));
    assert.deepEqual(ids, ids.toSorted());
  });

  it('refuse paging that is none', async () => {
    const cases: [string, string][] = [
      ['page=-1', 'Value for page must be of integer from 0'],
      ['page=x', 'Value for page must be of integer from 0'],
      ['page=1.5', 'Value for page must be of integer from 0'],
      ['page=', 'Value for page must be of integer from 0'],
      ['page=%2B1', 'Value for page must be of integer from 0'],
      ['page=99999999999999999999', 'Value for page must be of integer from 0 to 1000000000'],
      ['page=1&page=2', 'Value for page must be of one value, not several'],
      ['size=0', 'Value for size must be of integer from 1'],
      ['size=-5', 'Value for size must be of integer from 1'],
      ['sort=version', 'Value for sort must be of name or id or createdAt or status'],
      ['sort=__proto__', 'Value for sort must be of name or id or createdAt or status'],
      ['sort=name,up', 'Value for sort must be of asc or desc'],
      ['sort=name,asc,id', 'Value for sort must be of asc or desc'],
    ];
    for (const [query, message] of cases) {
      const answer = await world.call('GET', `${root}/environments?${query}`);
      assert.equal(answer.status, 400, query);
      assert.deepEqual(answer.body, { error: 'invalid_request', message });
    }
    const clamped = (await world.call('GET', `${root}/environments?size=5000`)).body as Page;
    assert.equal(clamped.pageable.pageSize, 1000);
    const plain = (await world.call('GET', `${root}/environments`)).body as Page;
    assert.deepEqual(plain.pageable, { pageNumber: 0, pageSize: 20 });
  });

  it('are read one by one with the time they were made', async () => {
    const id = await world.addEnvironment('one');
    const { status, body } = await world.call('GET', `${root}/environments/${id}`);
    assert.equal(status, 200);
    const createdAt = new Date(world.clock.nowMs()).toISOString();
    assert.deepEqual(body, { id, name: 'one', status: 'INACTIVE', createdAt, ...unseen });
    const missing = await world.call('GET', `${root}/environments/nope`);
    assert.equal(missing.status, 404);
    assert.deepEqual(missing.body, { error: 'not_found', message: 'Environment nope not found' });
  });

  it('are renamed by the owner, and keep their shares and status', async () => {
    const id = await world.addEnvironment('before');
    const path = `/frontdoor/${world.first.frontdoorId}/environments/${id}`;
    const read = await world.call('GET', path);
    const ifMatch = { 'if-match': String(read.headers['etag']) };
    const body = { ...(read.body as object), name: 'after' };
    const changed = await world.call('PATCH', path, { body, headers: ifMatch });
    assert.deepEqual(changed.body, body);
    assert.equal(world.model.identity(id)?.name, 'after');
    assert.equal((await world.call('PATCH', path, { body, headers: ifMatch })).status, 412);
    const foreign = `/frontdoor/${world.other.frontdoorId}/environments/${id}`;
    const { authorization } = world.other;
    assert.equal((await world.call('PATCH', foreign, { body, authorization })).status, 404);
    await world.call('DELETE', path);
  });

  it('of another frontdoor are missing', async () => {
    const id = await world.addEnvironment('foreign', world.other.frontdoorId);
    for (const [method, path, what] of [
      ['GET', `environments/${id}`, 'Environment'],
      ['DELETE', `environments/${id}`, 'Environment'],
      ['GET', `agents/${id}/status`, 'Agent'],
      ['GET', `agents/${id}/version`, 'Agent'],
      ['DELETE', `agents/${id}`, 'Agent'],
    ] as const) {
      const answer = await world.call(method, `${root}/${path}`);
      assert.equal(answer.status, 404, path);
      assert.deepEqual(answer.body, { error: 'not_found', message: `${what} ${id} not found` });
    }
    const list = (await world.call('GET', `${root}/environments?size=1000`)).body as Page;
    assert.ok(!list.content.some((environment) => environment['id'] === id));
    const { authorization, frontdoorId } = world.other;
    assert.equal(
      (await world.call('GET', `/frontdoor/${frontdoorId}/agents`, { authorization })).status,
      200,
    );
  });

  it('have a version once an agent has reported it', async () => {
    const id = await world.addEnvironment('versioned');
    const before = await world.call('GET', `${root}/agents/${id}/version`);
    assert.equal(before.status, 404);
    assert.deepEqual(before.body, { error: 'not_found', message: `Agent ${id} not found` });
    await world.store.db
      .updateTable('identity')
      .set({ agent_version: '1.2.3' })
      .where('id', '=', id)
      .execute();
    const after = await world.call('GET', `${root}/agents/${id}/version`);
    assert.deepEqual(after.body, { frontdoorId: world.first.frontdoorId, version: '1.2.3' });
    const agents = (await world.call('GET', `${root}/agents?size=1000`)).body as Page;
    assert.deepEqual(
      agents.content.find((agent) => agent['id'] === id),
      { id, name: 'versioned', status: 'INACTIVE', version: '1.2.3', ...unseen },
    );
    assert.equal(agents.totalElements, agents.content.length);
  });

  it('show the measured state of their shares, which is failed while they are offline', async () => {
    const id = await world.addEnvironment('hosting');
    const share = {
      name: 'hosted',
      environmentId: id,
      shareMode: 'public',
      backendMode: 'proxy',
      target: 'http://h:1/',
    };
    assert.equal((await world.call('POST', `${root}/shares`, { body: share })).status, 201);
    const service = [...world.catalog.all()].find(({ token }) => token === 'hosted')!;
    world.statuses.set(service.id, { state: 'DEPLOYED' });
    world.connected.add(id);
    const entry = {
      token: 'hosted',
      shareMode: 'public',
      backendMode: 'proxy',
      reserved: true,
      frontendEndpoints: ['http://hosted.share.localhost:8080'],
      backendEndpoint: 'http://h:1',
      status: 'DEPLOYED',
    };
    const { frontdoorId } = world.first;
    const online = await world.call('GET', `${root}/agents/${id}/status`);
    assert.deepEqual(online.body, { frontdoorId, shares: [entry] });
    world.connected.delete(id);
    const offline = await world.call('GET', `${root}/agents/${id}/status`);
    assert.deepEqual(offline.body, { frontdoorId, shares: [{ ...entry, status: 'FAILED' }] });
  });

  it('go with their shares and certificates, by either name', async () => {
    for (const path of ['environments', 'agents']) {
      const id = await world.addEnvironment('doomed');
      await world.store.db
        .insertInto('certificate')
        .values({ fingerprint: `f-${path}`, identity_id: id, spki_sha256: 'x', not_after: 1, created_at: 1 })
        .execute();
      const share = { environmentId: id, shareMode: 'private', backendMode: 'proxy', target: 'http://h:1' };
      const made = await world.call('POST', `${root}/shares`, { body: share });
      const { token } = made.body as { token: string };
      const removed = await world.call('DELETE', `${root}/${path}/${id}`);
      assert.equal(removed.status, 204);
      assert.equal(removed.text, '');
      assert.equal((await world.call('GET', `${root}/shares/${token}`)).status, 404);
      assert.equal((await world.call('GET', `${root}/environments/${id}`)).status, 404);
      assert.equal((await world.call('DELETE', `${root}/${path}/${id}`)).status, 404);
      assert.equal(world.model.identity(id), undefined);
      assert.ok(![...world.catalog.all()].some((service) => service.name === token));
      const left = await world.store.db
        .selectFrom('certificate')
        .selectAll()
        .where('identity_id', '=', id)
        .execute();
      assert.deepEqual(left, []);
    }
  });
});

describeEachStore('agent enrollments', (open) => {
  let world: ApiWorld;
  let root: string;
  before(async () => {
    world = await openApiWorld({ open });
    root = `/frontdoor/${world.first.frontdoorId}`;
  });
  after(() => world.close());

  it('issue a code that bootstraps, any number of times, until it expires', async () => {
    const { status, body, headers } = await world.call('POST', `${root}/agents/enrollments`);
    assert.equal(status, 201);
    assert.equal(headers['cache-control'], 'no-store');
    const { enrollmentCode } = body as { enrollmentCode: string };
    const { frontdoorId } = world.first;
    const expiresAt = new Date(world.clock.nowMs() + 15 * 60_000).toISOString();
    assert.match(enrollmentCode, /^[A-Z2-7]{32}$/);
    assert.deepEqual(body, { frontdoorId, enrollmentCode, expiresAt });

    const path = `/frontdoor/agents/bootstrap-token/${enrollmentCode}`;
    const first = await world.call('GET', path, { authorization: null });
    assert.equal(first.status, 200);
    assert.deepEqual(first.body, { frontdoorId, token: `jwt-${world.minted.length}`, expiresAt });
    await world.call('GET', path.replace(enrollmentCode, enrollmentCode.toLowerCase()), {
      authorization: null,
    });
    const [a, b] = world.minted.slice(-2);
    assert.equal(a!.method, 'ott');
    assert.equal(a!.subject, b!.subject);
    assert.notEqual(a!.jti, b!.jti);
    assert.equal(new Date(a!.expiresAtMs).toISOString(), expiresAt);

    world.clock.advance(15 * 60_000);
    assert.equal((await world.call('GET', path, { authorization: null })).status, 404);
  });

  it('have a name and a lifetime, are listed with the agent that came of them, and are canceled', async () => {
    const path = `${root}/agents/enrollments`;
    const issue = async (body: object) => {
      world.clock.advance(1_000);
      const answer = await world.call('POST', path, { body });
      assert.equal(answer.status, 201, answer.text);
      return (answer.body as { enrollmentCode: string }).enrollmentCode;
    };
    const used = await issue({ name: 'laptop', lifetimeSeconds: 86_400 });
    const open = await issue({ name: 'server' });
    const stateOf = async () => {
      const { body } = await world.call('GET', `${path}?size=2`);
      return (body as { content: { id: string; name: string; state: string; environmentId: string }[] })
        .content;
    };
    const row = await world.store.db
      .updateTable('enrollment')
      .set({ claimed_at: world.clock.nowMs() })
      .where('code_hmac', '=', world.secrets.hmac(used))
      .returningAll()
      .executeTakeFirstOrThrow();
    assert.equal(row.expires_at - row.created_at, 86_400_000);
    await world.store.db
      .updateTable('identity')
      .set({ id: row.identity_id })
      .where('id', '=', await world.addEnvironment('laptop'))
      .execute();
    const [second, first] = await stateOf();
    assert.deepEqual(
      [second, first].map((each) => [each!.name, each!.state, each!.environmentId]),
      [
        ['server', 'open', null],
        ['laptop', 'used', row.identity_id],
      ],
    );
    assert.equal((await world.call('DELETE', `${path}/${first!.id}`)).status, 409);
    assert.equal((await world.call('DELETE', `${path}/${second!.id}`)).status, 204);
    assert.equal((await world.call('DELETE', `${path}/${second!.id}`)).status, 404);
    const bootstrap = `/frontdoor/agents/bootstrap-token/${open}`;
    assert.equal((await world.call('GET', bootstrap, { authorization: null })).status, 404);
    const foreign = `/frontdoor/${world.other.frontdoorId}/agents/enrollments/${first!.id}`;
    const { authorization } = world.other;
    assert.equal((await world.call('DELETE', foreign, { authorization })).status, 404);
    for (const body of [{ name: '' }, { lifetimeSeconds: 59 }, { lifetimeSeconds: 604_801 }])
      assert.equal((await world.call('POST', path, { body })).status, 400);
  });

  it('answer unknown, expired, used and killed codes alike', async () => {
    const codes: string[] = ['A'.repeat(32), 'x', '%2F', 'a'.repeat(3000)];
    for (const change of [{ claimed_at: 1 }, { refused_csr_count: 5 }, { expires_at: 1 }]) {
      const { body } = await world.call('POST', `${root}/agents/enrollments`);
      const { enrollmentCode } = body as { enrollmentCode: string };
      codes.push(enrollmentCode);
      const hmac = world.secrets.hmac(enrollmentCode);
      await world.store.db.updateTable('enrollment').set(change).where('code_hmac', '=', hmac).execute();
    }
    for (const code of codes) {
      const answer = await world.call('GET', `/frontdoor/agents/bootstrap-token/${code}`, {
        authorization: null,
      });
      assert.equal(answer.status, 404);
      assert.deepEqual(answer.body, { error: 'not_found', message: 'Enrollment code not found' });
    }
    assert.equal(world.minted.filter(({ jti }) => jti === '').length, 0);
  });

  it('leave no code in the log or, in clear, in the store', async () => {
    const { body } = await world.call('POST', `${root}/agents/enrollments`);
    const { enrollmentCode } = body as { enrollmentCode: string };
    await world.call('GET', `/frontdoor/agents/bootstrap-token/${enrollmentCode}`);
    await world.call('PUT', `/frontdoor/agents/bootstrap-token/${enrollmentCode}`);
    assert.ok(!world.logLines.join('\n').includes(enrollmentCode));
    const rows = await world.store.db.selectFrom('enrollment').selectAll().execute();
    assert.ok(!JSON.stringify(rows).includes(enrollmentCode));
  });

  it('accept an empty object and refuse any other body', async () => {
    assert.equal((await world.call('POST', `${root}/agents/enrollments`, { body: {} })).status, 201);
    const typed = { headers: { 'content-type': 'application/json' } };
    assert.equal((await world.call('POST', `${root}/agents/enrollments`, typed)).status, 201);
    for (const body of ['{"a":1}', '[]', '1', '{']) {
      const answer = await world.call('POST', `${root}/agents/enrollments`, { body, ...typed });
      assert.equal(answer.status, 400, body);
      assert.equal((answer.body as { error: string }).error, 'invalid_request');
    }
  });
});
