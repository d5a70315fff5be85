import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import type { AuditEventAnswer, AuditVerificationAnswer } from '#contract/schemas';
import { within } from '../../../../test/support/deadline.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import { openStream, type StreamReader } from './event-stream-fixture.ts';

interface AuditPage {
  readonly content: readonly AuditEventAnswer[];
  readonly totalElements: number;
  readonly totalPages: number;
}

describe('the audit trail', () => {
  let world: ApiWorld;
  before(async () => {
    // Refused calls would be written half a second later, and be counted by a later test.
    mock.timers.enable({ apis: ['setTimeout'] });
    world = await openApiWorld();
  });
  after(async () => {
    mock.timers.reset();
    await world.close();
  });

  const list = async (query = '', authorization = world.authorization): Promise<AuditPage> => {
    const answer = await world.call('GET', `/audit-events${query}`, { authorization });
    assert.equal(answer.status, 200, answer.text);
    return answer.body as AuditPage;
  };

  it('lists and finds events beside one whose recorded state is damaged', async (test) => {
    const { store } = world;
    const { id } = (await list()).content[0]!;
    const cut = (after: string | null) =>
      store.db.updateTable('audit_event').set({ after }).where('id', '=', id).execute();
    const { after } = await store.db
      .selectFrom('audit_event')
      .select('after')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    test.after(() => cut(after));
    await cut('{"name":"Acm');
    const { content } = await list('?text=firstStart');
    assert.deepEqual(
      content.map(({ action, after: is }) => [action, is]),
      [['firstStart', null]],
    );
    const found = await world.call('GET', '/search?q=firstStart');
    assert.equal(found.status, 200, found.text);
  });

  it('begins with the first start, and records each change in full', async () => {
    const { organizationId, accountId, frontdoorId } = world.first;
    const environmentId = await world.addEnvironment('box');
    const body = { name: 'my-app', environmentId, shareMode: 'public', backendMode: 'proxy' };
    const path = `/frontdoor/${frontdoorId}/shares`;
    await world.call('POST', path, { body: { ...body, target: 'http://127.0.0.1:1' } });
    world.clock.advance(1_000);
    await world.call('PATCH', `${path}/my-app`, { body: { target: 'http://127.0.0.1:2' } });
    await world.call('DELETE', `/frontdoor/${frontdoorId}/environments/${environmentId}`);

    const { content, totalElements, totalPages } = await list();
    assert.deepEqual([totalElements, totalPages], [5, 1]);
    assert.deepEqual(
      content.map(({ sequence, action }) => [sequence, action]),
      [
        [5, 'deleteShare'],
        [4, 'deleteEnvironment'],
        [3, 'changeShare'],
        [2, 'createShare'],
        [1, 'firstStart'],
      ],
    );
    const [gone, removed, changed, , first] = content;
    const { before: was, after: is, id: _id, hash: _hash, ...event } = changed!;
    assert.deepEqual(event, {
      sequence: 3,
      at: new Date(world.clock.nowMs()).toISOString(),
      actor: { kind: 'account', id: accountId },
      action: 'changeShare',
      target: { kind: 'share', id: 'my-app' },
      address: '127.0.0.1',
      result: 'ok',
      reason: null,
      occurrences: 1,
    });
    const share = { token: 'my-app', frontdoorId, environmentId, reserved: true };
    assert.partialDeepStrictEqual(was, { ...share, target: 'http://127.0.0.1:1' });
    assert.partialDeepStrictEqual(is, { ...share, target: 'http://127.0.0.1:2' });
    assert.ok(!Object.hasOwn(is as object, 'status'));
    assert.partialDeepStrictEqual(removed!.before, {
      id: environmentId,
      name: 'box',
      shareCount: 1,
      shareTokens: ['my-app'],
    });
    assert.equal(removed!.after, null);
    // What went with its agent has its own event.
    assert.deepEqual(gone!.target, { kind: 'share', id: 'my-app' });
    assert.partialDeepStrictEqual(gone!.before, { ...share, target: 'http://127.0.0.1:2' });
    assert.deepEqual(first!.actor, { kind: 'system', id: null });
    assert.equal(first!.target!.id, organizationId);
  });

  it('records everything that is deleted with a frontdoor, and an enrollment without its code', async () => {
    const { organizationId } = world.first;
    const made = await world.call('POST', '/frontdoor', { body: { name: 'Short', organizationId } });
    const { id } = made.body as { id: string };
    await world.addEnvironment('a', id);
    await world.addEnvironment('b', id);
    const issued = await world.call('POST', `/frontdoor/${id}/agents/enrollments`);
    const { enrollmentCode, expiresAt } = issued.body as { enrollmentCode: string; expiresAt: string };
    await world.call('DELETE', `/frontdoor/${id}`);
    const { content } = await list();
    assert.deepEqual(content[1]!.after, { frontdoorId: id, expiresAt });
    assert.ok(!JSON.stringify(content).includes(enrollmentCode));
    const empty = { shareCount: 0, shareTokens: [], authProviderCount: 0, customFrontendHostnames: [] };
    const frontdoor = { id, name: 'Short', organizationId };
    assert.deepEqual(content[0]!.before, { ...frontdoor, ...empty, environmentCount: 2 });
  });

  it('is read page by page and by filter', async () => {
    const all = (await list('?size=1000')).content;
    const pages = [];
    for (let page = 0; page < all.length; page += 1)
      pages.push(...(await list(`?size=1&page=${page}`)).content);
    assert.deepEqual(pages, all);
    assert.equal((await list('?action=createShare')).totalElements, 1);
    assert.equal((await list('?targetId=my-app&result=ok')).totalElements, 3);
    assert.equal((await list(`?actorId=${world.first.accountId}`)).totalElements, all.length - 1);
    assert.equal((await list('?result=refused')).totalElements, 0);
    for (const query of ['result=maybe', 'action=', 'action=a&action=b', 'page=x', 'size=0', 'actorId=%00']) {
      assert.equal((await world.call('GET', `/audit-events?${query}`)).status, 400, query);
    }
  });

  it("is one's own organization's; others' and the installation's are for administrators", async () => {
    const { other, first } = world;
    const ask = (query: string, authorization = world.authorization) =>
      world.call('GET', `/audit-events${query}`, { authorization });
    const foreign = await ask(`?organizationId=${first.organizationId}`, other.authorization);
    assert.equal(foreign.status, 403);
    const message = `Organization ${first.organizationId} not found`;
    assert.deepEqual(foreign.body, { error: 'not_found', message });
    assert.equal((await list('', other.authorization)).totalElements, 0);
    const own = `?organizationId=${other.organizationId.toUpperCase()}`;
    assert.equal((await list(own, other.authorization)).totalElements, 0);
    assert.equal((await list(own)).totalElements, 0);
    assert.equal((await ask(`?organizationId=${randomUUID()}`)).status, 403);
    assert.equal((await ask('?organizationId=x')).status, 400);
    const refused = await ask('?organizationId=installation', other.authorization);
    assert.equal((refused.body as { error: string }).error, 'insufficient_scope');
    await world.call('POST', '/fabric/routers', { body: { name: 'r1' } });
    const installation = await list('?organizationId=installation&action=createRouter');
    assert.partialDeepStrictEqual(installation.content[0]!.after, { name: 'r1' });
  });

  it('of an organization that is gone stays', async () => {
    const made = await world.call('POST', '/organizations', { body: { name: 'Brief' } });
    const { id } = made.body as { id: string };
    await world.call('DELETE', `/organizations/${id}`);
    const actions = (await list(`?organizationId=${id}`)).content.map(({ action }) => action);
    assert.deepEqual(actions, ['deleteOrganization', 'createOrganization']);
  });

  it('is verified for administrators: an edited event shows', async () => {
    const verify = async () => {
      const answer = await world.call('GET', '/audit-events/verification');
      assert.equal(answer.status, 200);
      return answer.body as AuditVerificationAnswer;
    };
    const events = (await list()).totalElements;
    assert.deepEqual(await verify(), { valid: true, events, firstInvalid: null });
    const edited = world.store.db.updateTable('audit_event').where('action', '=', 'changeShare');
    await edited.set({ actor_id: 'someone else' }).execute();
    assert.deepEqual(await verify(), { valid: false, events: 2, firstInvalid: 3 });
    await edited.set({ actor_id: world.first.accountId }).execute();
    const denied = await world.call('GET', '/audit-events/verification', {
      authorization: world.other.authorization,
    });
    assert.equal((denied.body as { error: string }).error, 'insufficient_scope');
  });
});

describe('refused calls', () => {
  let world: ApiWorld;
  beforeEach(async () => {
    world = await openApiWorld();
  });
  afterEach(() => world.close());

  /** Returns the recorded events. The recorder writes on its own, half a second later. */
  async function recorded(count: number, organizationId: string) {
    const rows = () =>
      world.store.db
        .selectFrom('audit_event')
        .selectAll()
        .where('result', '=', 'refused')
        .where('organization_id', '=', organizationId)
        .orderBy('sequence')
        .execute();
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = async (): Promise<void> => {
      if ((await rows()).length >= count) resolve();
    };
    world.store.onChange(() => look());
    await look();
    await within('the refusals', promise);
    return rows();
  }

  it('of an unproven caller are recorded with the attempt, the address and the reason', async () => {
    const { frontdoorId } = world.first;
    const path = `/frontdoor/${frontdoorId}`;
    const attempts = [
      ['GET', path, { authorization: null }],
      ['DELETE', path, { authorization: `Basic ${randomUUID()}:wrong` }],
      ['POST', '/frontdoor', { authorization: 'Bearer  two', body: {} }],
      ['GET', '/frontdoor/agents/bootstrap-token/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', { authorization: null }],
      ['POST', '/oauth/token', { authorization: null, body: { grant_type: 'client_credentials' } }],
      // Not recorded, because nothing was refused.
      ['GET', '/nowhere', {}],
      ['POST', '/frontdoor', { body: { name: 7 } }],
      ['GET', `${path}/shares/missing`, {}],
    ] as const;
    for (const [method, url, options] of attempts) {
      assert.ok((await world.call(method, url, options)).status >= 400, url);
    }
    const rows = await recorded(5, '');
    assert.deepEqual(
      rows.map((row) => [row.actor_kind, row.action, row.target_id, row.address, row.reason]),
      [
        ['anonymous', 'getFrontdoor', frontdoorId, '127.0.0.1', 'unauthorized'],
        ['anonymous', 'deleteFrontdoor', frontdoorId, '127.0.0.1', 'unauthorized'],
        ['anonymous', 'createFrontdoor', null, '127.0.0.1', 'malformed_authorization'],
        ['anonymous', 'getBootstrapToken', null, '127.0.0.1', 'not_found'],
        ['anonymous', 'issueToken', null, '127.0.0.1', 'invalid_client'],
      ],
    );
    assert.ok(!JSON.stringify(rows).includes('wrong') && !JSON.stringify(rows).includes('AAAAAA'));
  });

  it('of a proven caller stand in the trail of its organization', async (t) => {
    // Equal ones are one event when they come before the recorder writes.
    mock.timers.enable({ apis: ['setTimeout'] });
    t.after(() => mock.timers.reset());
    const { id, authorization } = await world.addAccount(world.other.organizationId, 'frontdoor.read');
    const foreign = world.first.frontdoorId;
    for (let n = 0; n < 3; n += 1) await world.call('GET', `/frontdoor/${foreign}`, { authorization });
    await world.call('DELETE', `/frontdoor/${world.other.frontdoorId}`, { authorization });
    mock.timers.tick(500);
    const rows = await recorded(2, world.other.organizationId);
    assert.deepEqual(
      rows.map((row) => [row.actor_id, row.action, row.target_id, row.reason, row.occurrences]),
      [
        [id, 'getFrontdoor', foreign, 'not_found', 3],
        [id, 'deleteFrontdoor', world.other.frontdoorId, 'insufficient_scope', 1],
      ],
    );
  });
});

describe('the stream of audit events', () => {
  let world: ApiWorld;
  before(async () => {
    world = await openApiWorld();
    await world.app.listen({ host: '127.0.0.1', port: 0 });
  });
  after(() => world.close());
  const open = (query = '', headers: Record<string, string> = {}): Promise<StreamReader> =>
    openStream(world.app, `/audit-events${query}`, { authorization: world.authorization, ...headers });

  const createFrontdoor = (name: string) =>
    world.call('POST', '/frontdoor', { body: { name, organizationId: world.first.organizationId } });

  it('sends each event when it is committed, and resumes at the position of its reader', async () => {
    const stream = await open();
    assert.equal(stream.response.statusCode, 200);
    assert.equal(stream.response.headers['content-type'], 'text/event-stream');
    assert.equal(stream.response.headers['cache-control'], 'no-store');
    await stream.until(/retry/);
    await createFrontdoor('One');
    const text = await stream.until(/"name":"One"/);
    const [, id, data] = /id: (\d+)\nevent: audit\ndata: (.*)\n\n$/.exec(text)!;
    const event = JSON.parse(data!) as AuditEventAnswer;
    const [listed] = ((await world.call('GET', '/audit-events?size=1')).body as AuditPage).content;
    assert.deepEqual(event, listed);
    assert.equal(Number(id), event.sequence);
    stream.response.destroy();

    await createFrontdoor('Two');
    const resumed = await open('', { 'last-event-id': id! });
    assert.match(await resumed.until(/"name":"Two"/), new RegExp(`id: ${event.sequence + 1}\n`));
    assert.ok(!resumed.text.includes('"name":"One"'));
    resumed.response.destroy();
  });

  it('takes filters, and no pages', async () => {
    const stream = await open('?action=deleteFrontdoor');
    await stream.until(/retry/);
    const made = (await createFrontdoor('Three')).body as { id: string };
    await world.call('DELETE', `/frontdoor/${made.id}`);
    assert.ok(!(await stream.until(/deleteFrontdoor/)).includes('createFrontdoor'));
    stream.response.destroy();
    for (const [query, headers] of [
      ['?page=0', {}],
      ['?size=5', {}],
      ['', { 'last-event-id': 'x' }],
    ] as const) {
      assert.equal((await open(query, headers)).response.statusCode, 400, query);
    }
    const head = await world.call('HEAD', '/audit-events', { headers: { accept: 'text/event-stream' } });
    assert.equal(head.status, 200);
  });

  it('is refused beyond ten of one caller', async () => {
    const { authorization } = await world.addAccount(world.first.organizationId, 'frontdoor.read');
    const streams = [];
    for (let n = 0; n < 10; n += 1) streams.push(await open('', { authorization }));
    const eleventh = await open('', { authorization });
    assert.equal(eleventh.response.statusCode, 429);
    assert.equal(eleventh.response.headers['retry-after'], '10');
    assert.equal((await open()).response.statusCode, 200);
    for (const stream of streams) stream.response.destroy();
  });

  it('ends when its caller is revoked, and with the server', async () => {
    const made = await world.call('POST', '/api-accounts', {
      body: { name: 'x', organizationId: world.first.organizationId, scopes: ['frontdoor.read'] },
    });
    const { id, token } = made.body as { id: string; token: string };
    const revoked = await open('', { authorization: `Basic ${id}:${token}` });
    await revoked.until(/retry/);
    await world.call('DELETE', `/api-accounts/${id}`);
    await revoked.ended;
    assert.ok(!revoked.text.includes('deleteApiAccount'));

    const cut = await open();
    await cut.until(/retry/);
    const { ended } = cut;
    await world.app.close();
    await ended;
  });
});
