// Idempotency keys: a creation that is sent again makes nothing new and gets the first answer, secrets included.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { operations, takesIdempotencyKey, type Operation } from '#contract';
import { IDEMPOTENCY_KEY_TTL_MS } from '#domain';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { sweepKeptAnswers, keepAnswer } from './idempotency-store.ts';
import { openStore, type Store } from '../../store/mod.ts';
import { openApiWorld, type ApiWorld, type CallAnswer } from './api-fixture.ts';
import { createManagementApi } from './management-api.ts';

const RACERS = 50;

describeEachStore('idempotency keys', (_open, newPlace) => {
  let world: ApiWorld;
  /** Another control plane over the same database, where there can be one; else the same. */
  let peer: FastifyInstance;
  let peerStore: Store | undefined;
  let organizationId: string;

  before(async () => {
    const place = await newPlace();
    world = await openApiWorld({ open: (options) => openStore({ ...place, ...options }) });
    peerStore = world.store.isShared ? await openStore(place) : undefined;
    peer = await createManagementApi({ ...world.options, store: peerStore ?? world.store });
    ({ organizationId } = world.first);
  });
  after(async () => {
    await peer.close();
    await peerStore?.close();
    await world.close();
  });

  const post = (path: string, key: string, body?: unknown, authorization?: string): Promise<CallAnswer> =>
    world.call('POST', path, {
      body,
      headers: { 'idempotency-key': key },
      authorization,
    });

  async function postAtPeer(path: string, key: string, body: unknown) {
    const headers = { authorization: world.authorization, 'idempotency-key': key };
    const answer = await peer.inject({
      method: 'POST',
      url: path,
      headers: { ...headers, 'content-type': 'application/json' },
      payload: JSON.stringify(body),
    });
    return {
      status: answer.statusCode,
      headers: answer.headers as Record<string, unknown>,
      text: answer.body,
    };
  }

  function errorOf({ body }: CallAnswer): readonly string[] {
    const { error, message } = body as { error: string; message: string };
    return [error, message];
  }

  const countOf = async (table: 'frontdoor' | 'audit_event' | 'idempotency_answer'): Promise<number> => {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
      world.store.db,
    );
    return Number(rows[0]!.count);
  };

  const usage = async () =>
    (await world.store.db.selectFrom('idempotency_usage').selectAll().execute()).map((row) => ({
      answers: row.answers,
      bytes: row.bytes,
    }));

  it('answer each repeated creation as the first time, and change and record nothing', async () => {
    const base = `/frontdoor/${world.first.frontdoorId}`;
    const environmentId = await world.addEnvironment('host');
    const frontend = ((await world.call('GET', `${base}/frontends`)).body as { id: string }[])[0]!.id;
    const caller = { name: 'caller', organizationId };
    const idOf = async (path: string, body: unknown): Promise<string> =>
      ((await world.call('POST', path, { body })).body as { id: string }).id;
    const account = await idOf('/api-accounts', caller);
    const oauthClient = await idOf('/oauth-clients', caller);
    const hook = { name: 'a', url: 'https://hooks.example.com/a' };
    const destination = await idOf('/notification-destinations', hook);
    const serviceId = await idOf('/fabric/services', { name: 'a service' });
    const routerId = await idOf('/fabric/routers', { name: 'a router' });
    const provider = { name: 'people', type: 'GITHUB', data: { client_id: 'a', client_secret: 'b' } };
    const authProviderId = await idOf(`${base}/auth-providers`, provider);
    const share = { name: 'again', environmentId, shareMode: 'public', backendMode: 'proxy' };
    await idOf(`${base}/shares`, { ...share, name: 'served', target: 'http://a:2' });
    const data = { placement: 'bearer', keys: [{ name: 'made' }] };
    const creations: Readonly<Record<string, readonly [path: string, body?: object]>> = {
      createFrontdoor: ['/frontdoor', caller],
      createEnrollment: [`${base}/agents/enrollments`],
      createShare: [`${base}/shares`, { ...share, target: 'http://a:1' }],
      createCustomFrontend: [`${base}/custom-frontends`, { hostname: 'a.example.com', frontendId: frontend }],
      addShareDomain: [`${base}/shares/served/domains`, { hostname: 'a.example.org' }],
      createAuthProvider: [`${base}/auth-providers`, { name: 'p', type: 'API_KEY', data }],
      createPolicy: [`${base}/policies`, { name: 'staff' }],
      createOrganization: ['/organizations', { name: 'o' }],
      createApiAccount: ['/api-accounts', caller],
      rotateApiAccount: [`/api-accounts/${account}/rotate`],
      createOauthClient: ['/oauth-clients', caller],
      rotateOauthClient: [`/oauth-clients/${oauthClient}/rotate`],
      createNotificationDestination: [
        '/notification-destinations',
        { name: 'pager', url: 'https://hooks.example.com/a' },
      ],
      rotateNotificationSecret: [`/notification-destinations/${destination}/rotate`],
      createConsoleLogIn: ['/console-log-ins', { authProviderId }],
      createInvitation: ['/invitations', { name: 'Ann', role: 'reader' }],
      rotateSigningKey: ['/signing-keys'],
      createRouter: ['/fabric/routers', { name: 'r' }],
      createGateway: ['/fabric/gateways', { name: 'g' }],
      createFabricService: ['/fabric/services', { name: 's' }],
      createTerminator: ['/fabric/terminators', { serviceId, routerId, address: 'tcp:a:1' }],
    };
    const keyed = (operations as readonly Operation[]).filter(takesIdempotencyKey).map(({ id }) => id);
    assert.deepEqual(Object.keys(creations).sort(), keyed.sort());
    const answers: CallAnswer[] = [];
    for (const id of keyed) {
      const [path, body] = creations[id]!;
      const key = `key of ${id}`.replaceAll(' ', '-');
      const first = await post(path, key, body);
      assert.ok(first.status < 300, `${id}: ${first.text}`);
      assert.equal(first.headers['idempotency-replayed'], undefined);
      const events = await countOf('audit_event');
      const reordered = body && Object.fromEntries(Object.entries(body).reverse());
      const again = await post(path, key, reordered);
      assert.deepEqual([again.status, again.text], [first.status, first.text], id);
      for (const name of ['location', 'etag', 'cache-control', 'content-type'])
        assert.equal(again.headers[name], first.headers[name], `${id}: ${name}`);
      assert.equal(again.headers['idempotency-replayed'], 'true', id);
      assert.equal(await countOf('audit_event'), events, id);
      answers.push(first);
    }
    const kept = await world.store.db.selectFrom('idempotency_answer').selectAll().execute();
    assert.equal(kept.length, keyed.length);
    const all = JSON.stringify(kept);
    for (const { body } of answers) {
      const { token, secret } = body as { token?: string; secret?: string };
      for (const each of [token, secret]) if (each !== undefined) assert.ok(!all.includes(each));
    }
    for (const { answer_sealed: sealed } of kept)
      assert.throws(() => world.secrets.unseal(sealed), /does not open/, 'the key file alone opens none');
  });

  it('belong to one request of one caller: another body is 409, another operation or caller is another key', async () => {
    const key = randomUUID();
    const body = { name: 'one', organizationId };
    const first = await post('/frontdoor', key, body);
    const refused = await post('/frontdoor', key, { ...body, name: 'two' });
    assert.equal(refused.status, 409);
    assert.deepEqual(errorOf(refused), [
      'conflict',
      'The Idempotency-Key belongs to another request: each request needs one of its own',
    ]);
    assert.equal((await post('/organizations', key, { name: 'one' })).status, 201);
    const { authorization } = await world.addAccount(organizationId, 'frontdoor.read frontdoor.write');
    const other = await post('/frontdoor', key, body, authorization);
    assert.equal(other.status, 201);
    assert.notEqual((other.body as { id: string }).id, (first.body as { id: string }).id);
    const reader = await world.addAccount(organizationId, 'frontdoor.read');
    assert.equal((await post('/frontdoor', key, body, reader.authorization)).status, 403);
  });

  it('make one thing of 50 requests at once, at any control plane, and answer all alike', async () => {
    const key = randomUUID();
    const body = { name: 'raced', organizationId };
    const before = await countOf('frontdoor');
    const answers = await Promise.all(
      Array.from({ length: RACERS }, (_, at) =>
        at % 2 === 0 ? postAtPeer('/frontdoor', key, body) : post('/frontdoor', key, body),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.equal(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1);
    assert.equal(await countOf('frontdoor'), before + 1);
  });

  it('keep no refusal, and nothing of what did not happen', async () => {
    const key = randomUUID();
    const body = { name: 'refused', organizationId: randomUUID() };
    assert.equal((await post('/frontdoor', key, body)).status, 403);
    const taken = { name: 'taken' };
    const made = await world.call('POST', '/fabric/services', { body: taken });
    assert.equal((await post('/fabric/services', key, taken)).status, 409);
    await world.call('DELETE', `/fabric/services/${(made.body as { id: string }).id}`);
    assert.equal((await post('/fabric/services', key, taken)).status, 201);

    // After the creation and its answer, before the end of the transaction.
    const [frontdoors, kept] = [await countOf('frontdoor'), await countOf('idempotency_answer')];
    const wanted = { name: 'not announced', organizationId };
    await sql`alter table audit_event rename to audit_event_away`.execute(world.store.db);
    assert.equal((await post('/frontdoor', key, wanted)).status, 500);
    await sql`alter table audit_event_away rename to audit_event`.execute(world.store.db);
    assert.deepEqual([await countOf('frontdoor'), await countOf('idempotency_answer')], [frontdoors, kept]);
    const again = await post('/frontdoor', key, wanted);
    assert.deepEqual([again.status, again.headers['idempotency-replayed']], [201, undefined]);
  });

  it('have a form, and are refused where they could not be held', async () => {
    const body = { name: 'form', organizationId };
    for (const bad of ['', 'a b', 'ä', 'x'.repeat(256)]) {
      const refused = await post('/frontdoor', bad, body);
      assert.equal(refused.status, 400, bad);
      assert.match(
        refused.text,
        /^\{"error":"invalid_request","message":"Value for Idempotency-Key must be of/,
      );
    }
    assert.equal((await post('/frontdoor', 'x'.repeat(255), body)).status, 201);
    const refused = await post('/fabric/inspect', 'key', { names: ['config'] });
    assert.deepEqual(
      [refused.status, errorOf(refused)[1]],
      [400, 'Value for Idempotency-Key must be of nothing, for this creates nothing'],
    );
  });

  it('are forgotten after a day, by the next creation or the sweep, and with their organization', async () => {
    const key = randomUUID();
    const body = { name: 'a day', organizationId };
    const first = await post('/frontdoor', key, body);
    world.clock.advance(IDEMPOTENCY_KEY_TTL_MS - 1);
    assert.equal((await post('/frontdoor', key, body)).text, first.text);
    world.clock.advance(1);
    const second = await post('/frontdoor', key, body);
    assert.deepEqual([second.status, second.headers['idempotency-replayed']], [201, undefined]);
    assert.notEqual(second.text, first.text);
    while (await sweepKeptAnswers(world.store, world.clock.nowMs(), 3));
    assert.equal(await countOf('idempotency_answer'), 1);
    const [row] = await world.store.db.selectFrom('idempotency_answer').selectAll().execute();
    assert.deepEqual(await usage(), [{ answers: 1, bytes: row!.bytes }]);
    world.clock.advance(IDEMPOTENCY_KEY_TTL_MS);
    while (await sweepKeptAnswers(world.store, world.clock.nowMs(), 1_000));
    assert.deepEqual([await countOf('idempotency_answer'), await usage()], [0, []]);

    const made = await world.call('POST', '/organizations', { body: { name: 'goes' } });
    const { id } = made.body as { id: string };
    const { authorization } = await world.addAccount(id, 'frontdoor.admin frontdoor.read');
    assert.equal((await post('/organizations', key, { name: 'x' }, authorization)).status, 201);
    assert.equal(await countOf('idempotency_answer'), 1);
    assert.equal((await world.call('DELETE', `/organizations/${id}`)).status, 204);
    assert.deepEqual([await countOf('idempotency_answer'), await usage()], [0, []]);
  });

  it('of one organization are bounded in number and bytes: the oldest go first', async () => {
    const { store } = world;
    const keep = (at: number, answer: string, limits: { answers: number; bytes: number }) =>
      store.transaction((trx) =>
        keepAnswer(trx, { id: `id ${at}`, organizationId: 'bounded', requestHmac: 'r' }, answer, at, limits),
      );
    const ids = async () =>
      (await store.db.selectFrom('idempotency_answer').select('id').orderBy('created_at').execute()).map(
        (row) => row.id,
      );
    for (let at = 0; at < 6; at += 1) await keep(at, 'answer', { answers: 3, bytes: 1_000 });
    assert.deepEqual(await ids(), ['id 3', 'id 4', 'id 5']);
    await keep(6, 'x'.repeat(30), { answers: 100, bytes: 40 });
    assert.deepEqual(await ids(), ['id 5', 'id 6']);
    assert.deepEqual(await usage(), [{ answers: 2, bytes: 36 }]);
    while (await sweepKeptAnswers(store, IDEMPOTENCY_KEY_TTL_MS + 10, 1));
    assert.deepEqual(await usage(), []);
  });
});
