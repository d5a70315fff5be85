// Notifications from the measurement to a real receiver: what is reported, once by two control planes, signed, sent again, and
// by whom destinations are set up.
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, it } from 'node:test';
import { silentLog } from '#base';
import { parseAllowedNetworks } from '#domain';
import { until } from '../../../../test/support/deadline.ts';
import { closerOf } from '../../../../test/support/server-sockets.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { CertificateWatch, NotificationSender, ProblemWatch } from '../notifications/mod.ts';
import { deleteFinished, publishEvent } from '../notifications/delivery-store.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: {
    readonly id: string;
    readonly type: string;
    readonly data: { readonly total: number; readonly resources: readonly Record<string, unknown>[] };
  };
}

interface Destination {
  readonly id: string;
  readonly secret: string;
  readonly url: string;
}

const DAY_MS = 86_400_000;

describeEachStore('notifications', (open) => {
  let world: ApiWorld;
  let senders: NotificationSender[];
  let watches: ProblemWatch[];
  let origin: string;
  let environmentId: string;
  let shareId: string;
  let answer: (path: string, response: ServerResponse) => void;
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { url: path = '', headers } = request;
      received.push({ path, headers, text, body: JSON.parse(text) as Received['body'] });
      answer(path, response);
    });
  });
  const close = closerOf(server);
  const accept = (_path: string, response: ServerResponse): void => void response.writeHead(204).end();

  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    origin = `http://127.0.0.1:${port}`;
    world = await openApiWorld({
      open,
      notifications: { attempt: (...args) => senders[0]!.attempt(...args), hasMail: false },
    });
    const { store, secrets, clock, model, catalog, options } = world;
    const { status, fabric, edgeRouters } = options;
    const egress = { allowed: parseAllowedNetworks('--allow-egress', [`127.0.0.1:${port}`]) };
    const log = silentLog;
    senders = [1, 2].map(
      () => new NotificationSender({ store, secrets, clock, log, egress, random: () => 0.5 }),
    );
    watches = [1, 2].map(
      () => new ProblemWatch({ model, catalog, status, fabric, edgeRouters, store, clock, log }),
    );
    environmentId = await world.addEnvironment('edge');
    const made = await world.call('POST', `/frontdoor/${world.first.frontdoorId}/shares`, {
      body: {
        name: 'app',
        environmentId,
        shareMode: 'public',
        backendMode: 'proxy',
        target: 'http://127.0.0.1:3000',
      },
    });
    assert.equal(made.status, 201, made.text);
    ({ id: shareId } = await store.db.selectFrom('share').select('id').executeTakeFirstOrThrow());
    world.connected.add(environmentId);
    clock.advance(60_000);
    await pass();
  });
  after(async () => {
    await Promise.all([...watches, ...senders].map((each) => each.close()));
    await world.close();
    close();
  });
  afterEach(async () => {
    answer = accept;
    world.connected.add(environmentId);
    world.statuses.set(shareId, { state: 'DEPLOYED' });
    await pass();
    world.clock.advance(3 * 3_600_000);
    await pass();
    const { content } = await list<{ id: string }>('/notification-destinations');
    for (const { id } of content) await world.call('DELETE', `/notification-destinations/${id}`);
    received.length = 0;
  });

  const pass = async () => {
    await Promise.all(watches.map((each) => each.pass()));
    await Promise.all(senders.map((each) => each.pass()));
    await Promise.all(senders.map((each) => each.settled()));
  };
  const later = async (ms: number) => {
    world.clock.advance(ms);
    await pass();
  };
  const create = async (body: object = {}): Promise<Destination> => {
    const made = await world.call('POST', '/notification-destinations', {
      body: { name: 'pager', url: `${origin}/hook`, ...body },
    });
    assert.equal(made.status, 201, made.text);
    return made.body as Destination;
  };
  const list = async <T>(path: string): Promise<{ readonly content: readonly T[] }> =>
    (await world.call('GET', path)).body as { content: T[] };
  const fail = () => {
    const failure = { count: 1, lastError: 'connection refused', nextRetry: '2026-01-01T00:00:00Z' };
    world.statuses.set(shareId, { state: 'FAILED', failure });
  };
  const types = () => received.map(({ body }) => body.type);
  answer = accept;

  it('report a share that fails and its recovery, each once by two control planes, signed for the receiver', async () => {
    const { secret } = await create();
    fail();
    await pass();
    await later(29_000);
    assert.deepEqual(types(), []);
    await later(2_000);
    await later(5_000);
    const [{ body, headers, text }] = received as [Received];
    assert.deepEqual(types(), ['share.failing']);
    assert.deepEqual(body.data, {
      organizationId: world.first.organizationId,
      total: 1,
      resources: [
        {
          kind: 'share',
          id: 'app',
          frontdoorId: world.first.frontdoorId,
          target: 'http://127.0.0.1:3000',
          reason: 'connection refused',
        },
      ],
    });
    const signed = `${headers['webhook-id'] as string}.${headers['webhook-timestamp'] as string}.${text}`;
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    const expected = createHmac('sha256', key).update(signed).digest('base64');
    assert.equal(headers['webhook-signature'], `v1,${expected}`);
    assert.equal(headers['webhook-id'], body.id);
    world.statuses.set(shareId, { state: 'DEPLOYED' });
    await pass();
    await later(61_000);
    assert.deepEqual(types(), ['share.failing', 'share.healthy']);
  });

  it('report an agent that is away, and not its shares', async () => {
    await create();
    fail();
    world.connected.delete(environmentId);
    await pass();
    await later(61_000);
    await later(61_000);
    assert.deepEqual(
      received.map(({ body }) => [
        body.type,
        body.data.resources[0]!['name'],
        body.data.resources[0]!['shares'],
      ]),
      [['agent.away', 'edge', 1]],
    );
  });

  it('report one share that changes each second once', async () => {
    await create();
    for (let second = 0; second < 30; second += 1) {
      if (second % 2 === 0) fail();
      else world.statuses.set(shareId, { state: 'DEPLOYED' });
      world.clock.advance(1_000);
      if (second % 5 === 0) await pass();
    }
    await pass();
    assert.deepEqual(types(), ['share.failing']);
  });

  it('report a certificate that ends soon once by two control planes, until it was renewed', async () => {
    await create();
    const { store, clock } = world;
    const own = [1, 2].map(() => new CertificateWatch({ store, clock, log: silentLog }));
    const look = async () => {
      await Promise.all(own.map((each) => each.pass()));
      await pass();
    };
    const certificate = {
      fingerprint: 'f'.repeat(40),
      identity_id: environmentId,
      spki_sha256: '0'.repeat(64),
      authority_id: null,
      not_after: clock.nowMs() + 10 * DAY_MS,
      created_at: clock.nowMs(),
    };
    await store.db.insertInto('certificate').values(certificate).execute();
    await look();
    await look();
    assert.deepEqual(
      received.map(({ body }) => [body.type, body.data.resources[0]!['name']]),
      [['certificate.expiring', 'edge']],
    );
    await store.db.deleteFrom('certificate').execute();
    await look();
    assert.equal((await store.db.selectFrom('reported_problem').selectAll().execute()).length, 0);
    await Promise.all(own.map((each) => each.close()));
  });

  it('report a certificate that ends soon beside any number that have ended', async () => {
    await create();
    const { store, clock } = world;
    const certificateOf = (fingerprint: string, identityId: string, endsInMs: number) => ({
      fingerprint: fingerprint.padStart(40, 'f'),
      identity_id: identityId,
      spki_sha256: '0'.repeat(64),
      authority_id: null,
      not_after: clock.nowMs() + endsInMs,
      created_at: clock.nowMs(),
    });
    const { db } = store;
    const live = await db
      .selectFrom('identity')
      .selectAll()
      .where('id', '=', environmentId)
      .executeTakeFirstOrThrow();
    const abandoned = Array.from({ length: 500 }, (_, i) => ({
      ...live,
      id: randomUUID(),
      name: `old-${i}`,
    }));
    await db.insertInto('identity').values(abandoned).execute();
    const ended = abandoned.map(({ id }, i) => certificateOf(String(i), id, -DAY_MS));
    await db.insertInto('certificate').values(ended).execute();
    await db
      .insertInto('certificate')
      .values(certificateOf('live', environmentId, DAY_MS))
      .execute();
    const own = new CertificateWatch({ store, clock, log: silentLog });
    await own.pass();
    await pass();
    assert.deepEqual(
      received.map(({ body }) => [body.type, body.data.total, body.data.resources[0]!['name']]),
      [['certificate.expiring', 1, 'edge']],
    );
    await db.deleteFrom('certificate').execute();
    const ids = abandoned.map(({ id }) => id);
    await db.deleteFrom('identity').where('id', 'in', ids).execute();
    await own.pass();
    await own.close();
  });

  it('are sent again under the same id until the destination accepts them, or fail and are sent again on request', async () => {
    const { id, secret } = await create();
    answer = (_path, response) => void response.writeHead(500).end('secret text of the server');
    fail();
    await pass();
    await later(31_000);
    assert.equal(received.length, 1);
    await later(6_000);
    assert.equal(received.length, 2);
    assert.equal(received[0]!.body.id, received[1]!.body.id);
    for (let attempt = 2; attempt < 10; attempt += 1) await later(DAY_MS / 3);
    await later(DAY_MS);
    assert.equal(received.length, 10);
    const path = `/notification-destinations/${id}`;
    const { content } = await list<{ id: string; problem: string; attempts: number }>(
      `${path}/deliveries?state=FAILED`,
    );
    assert.deepEqual(
      content.map(({ problem, attempts }) => [problem, attempts]),
      [['the server answered 500', 10]],
    );
    answer = accept;
    const again = await world.call('POST', `${path}/deliveries/${content[0]!.id}/retry`);
    assert.equal(again.status, 200, again.text);
    await pass();
    assert.equal(received.length, 11);
    assert.equal((await world.call('POST', `${path}/deliveries/${content[0]!.id}/retry`)).status, 409);
    const stored = await world.call('GET', path);
    assert.ok(!stored.text.includes(secret));
    assert.equal((stored.body as { lastProblem: unknown }).lastProblem, null);
    assert.ok((await deleteFinished(world.store.db, world.clock.nowMs() + 31 * DAY_MS, 100)) > 0);
    assert.deepEqual((await list(`${path}/deliveries`)).content, []);
  });

  it('reach a destination while another one does not answer', async () => {
    await create({ url: `${origin}/slow` });
    await create({ url: `${origin}/quick` });
    const held: ServerResponse[] = [];
    answer = (path, response) => (path === '/slow' ? void held.push(response) : accept(path, response));
    fail();
    await Promise.all(watches.map((each) => each.pass()));
    world.clock.advance(31_000);
    await Promise.all(watches.map((each) => each.pass()));
    const quick = () => received.filter(({ path }) => path === '/quick').length;
    await until('the quick one', quick, (count) => count === 1);
    await until(
      'the slow one',
      () => held.length,
      (count) => count === 1,
    );
    const { organizationId } = world.first;
    const next = { organizationId, type: 'share.healthy', data: {} } as const;
    await world.store.transaction((trx, touch) => publishEvent(trx, touch, next, world.clock.nowMs()));
    await until('the next one', quick, (count) => count === 2);
    // Each control plane sends one delivery of a destination at a time.
    assert.ok(held.length <= senders.length);
    answer = accept;
    for (const response of held) response.end();
    await Promise.all(senders.map((each) => each.settled()));
  });

  it('of a frontdoor that was deleted in the meantime reach no other organization', async () => {
    const { id } = await create();
    const event = { organizationId: '', type: 'agent.away', data: { total: 1 } } as const;
    await world.store.transaction((trx, touch) => publishEvent(trx, touch, event, world.clock.nowMs()));
    await pass();
    assert.deepEqual(types(), []);
    assert.deepEqual((await list(`/notification-destinations/${id}/deliveries`)).content, []);
  });

  it('wait for no destination that cannot be read, whose owner sees and deletes it', async () => {
    const { id } = await create();
    const { db } = world.store;
    await db.updateTable('notification_destination').set({ url_sealed: 'damaged' }).execute();
    await create({ url: `${origin}/other` });
    const { organizationId } = world.first;
    const event = { organizationId, type: 'agent.away', data: {} } as const;
    await world.store.transaction((trx, touch) => publishEvent(trx, touch, event, world.clock.nowMs()));
    await pass();
    assert.deepEqual(
      received.map(({ path }) => path),
      ['/other'],
    );
    const path = `/notification-destinations/${id}`;
    const { content } = await list<{ attempts: number }>(`${path}/deliveries`);
    assert.deepEqual(
      content.map(({ attempts }) => attempts),
      [1],
    );
    const shown = await list<{ id: string; url: string }>('/notification-destinations');
    assert.equal(shown.content.find((each) => each.id === id)?.url, 'https://unreadable.invalid/');
    assert.equal((await world.call('DELETE', path)).status, 204);
  });

  it('are sent again later if a stored one cannot be read', async () => {
    const { id } = await create();
    const { organizationId } = world.first;
    const event = { organizationId, type: 'agent.away', data: {} } as const;
    await world.store.transaction(async (trx, touch) => {
      await publishEvent(trx, touch, event, world.clock.nowMs());
      await trx.updateTable('notification_event').set({ data: '{' }).execute();
    });
    await pass();
    const { content } = await list<object>(`/notification-destinations/${id}/deliveries`);
    assert.partialDeepStrictEqual(content, [{ attempts: 1, state: 'PENDING', data: {} }]);
  });

  it('are tested by an organization a few at a time', async () => {
    const { id } = await create();
    const held: ServerResponse[] = [];
    answer = (_path, response) => void held.push(response);
    const path = `/notification-destinations/${id}/test`;
    const tests = Array.from({ length: 4 }, () => world.call('POST', path));
    await until(
      'the tests',
      () => held.length,
      (count) => count === 4,
    );
    assert.equal((await world.call('POST', path)).status, 429);
    answer = accept;
    for (const response of held) response.end();
    for (const { status } of await Promise.all(tests)) assert.equal(status, 200);
    assert.equal((await world.call('POST', path)).status, 200);
  });

  it('have an address that can be called', async () => {
    const { id } = await create();
    for (const url of ['https://[x', 'https://a:99999/', 'http://%']) {
      const made = await world.call('POST', '/notification-destinations', { body: { name: 'a', url } });
      assert.equal(made.status, 400, made.text);
      const moved = await world.call('PATCH', `/notification-destinations/${id}`, { body: { url } });
      assert.equal(moved.status, 400, moved.text);
    }
  });

  it('are signed with both secrets during an overlap', async () => {
    const { id } = await create();
    const path = `/notification-destinations/${id}`;
    await world.call('POST', `${path}/rotate`, { body: { overlapSeconds: 60 } });
    await world.call('POST', `${path}/test`);
    world.clock.advance(61_000);
    const tested = await world.call('POST', `${path}/test`);
    assert.deepEqual(tested.body, { delivered: true, status: 204, problem: null });
    const signatures = received.map(
      ({ headers }) => (headers['webhook-signature'] as string).split(' ').length,
    );
    assert.deepEqual(
      [signatures, types()],
      [
        [2, 1],
        ['test', 'test'],
      ],
    );
  });

  it('go to no address that the operator did not open, and follow no redirect', async () => {
    const tested = async (url: string) => {
      const { id } = await create({ url });
      const { body } = await world.call('POST', `/notification-destinations/${id}/test`);
      return body as { delivered: boolean; problem: string };
    };
    for (const url of ['https://169.254.169.254/latest', 'https://10.0.0.1/', 'http://127.0.0.1:1/'])
      assert.match((await tested(url)).problem, /is not fetched/);
    answer = (path, response) =>
      path === '/hook' ? void response.writeHead(307, { location: '/other' }).end() : accept(path, response);
    assert.match((await tested(`${origin}/hook`)).problem, /answered 307; redirects are not followed/);
    assert.deepEqual(
      received.map(({ path }) => path),
      ['/hook'],
    );
  });

  it('are set up by administrators of the organization, and those of the installation by operators', async () => {
    const { authorization } = await world.addAccount(
      world.first.organizationId,
      'frontdoor.read frontdoor.write frontdoor.organization',
    );
    const own = await world.addAccount(
      world.other.organizationId,
      'frontdoor.read frontdoor.write frontdoor.organization',
    );
    const body = { name: 'pager', url: `${origin}/a-token-in-the-path`, events: ['router.lost'] };
    const refused = await world.call('POST', '/notification-destinations', { body, authorization });
    assert.equal(refused.status, 403);
    const { id } = await create(body);
    const path = `/notification-destinations/${id}`;
    const moved = { url: 'https://hooks.example.com/b' };
    assert.equal((await world.call('PATCH', path, { body: moved, authorization })).status, 403);
    assert.equal((await world.call('GET', path, { authorization: own.authorization })).status, 404);
    const lost = { organizationId: '', type: 'router.lost', data: { total: 1 } } as const;
    await world.store.transaction((trx, touch) => publishEvent(trx, touch, lost, world.clock.nowMs()));
    const seen = async (options: object) =>
      (await world.call('GET', `${path}/deliveries`, options)).body as { content: unknown[] };
    assert.equal((await seen({})).content.length, 1);
    assert.equal((await seen({ authorization })).content.length, 0);
    const rows = await world.store.db.selectFrom('notification_destination').selectAll().execute();
    const trail = await world.store.db.selectFrom('audit_event').selectAll().execute();
    assert.ok(!JSON.stringify([rows, trail]).includes('a-token-in-the-path'));
    const made = await Promise.all(
      Array.from({ length: 25 }, () => world.call('POST', '/notification-destinations', { body })),
    );
    assert.equal(made.filter(({ status }) => status === 201).length, 19);
  });
});
