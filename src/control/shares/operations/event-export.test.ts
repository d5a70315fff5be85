// The export of all events to a real collector and to a server of syslog: everything once it is accepted, in order, by one control plane.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { after, afterEach, before, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { silentLog } from '#base';
import { parseAllowedNetworks } from '#domain';
import { until } from '../../../../test/support/deadline.ts';
import { closerOf } from '../../../../test/support/server-sockets.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { EventExporter } from '../event-export/mod.ts';
import { deleteFinished, publishEvent } from '../notifications/delivery-store.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import { auditAnswerOf } from './audit-operations.ts';

interface Line {
  readonly kind: string;
  readonly organizationId: string | null;
  readonly id: string;
  readonly sequence: number;
  readonly action: string;
  readonly type: string;
  readonly after: unknown;
}

interface State {
  readonly hasSecret: boolean;
  readonly waiting: number;
  readonly delivered: number;
  readonly failures: number;
  readonly lastProblem: string | null;
  readonly oldestWaitingAt: string | null;
  readonly lastDeliveredAt: string | null;
}

describeEachStore('the event export', (open) => {
  let world: ApiWorld;
  let exporters: EventExporter[];
  let url: string;
  let answer: (response: ServerResponse) => void;
  const requests: { readonly headers: IncomingHttpHeaders; readonly lines: readonly Line[] }[] = [];
  const accept = (response: ServerResponse): void => void response.writeHead(200).end('{}');
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { headers } = request;
      const body = Buffer.concat(chunks);
      const text = (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
      assert.ok(text.endsWith('\n'));
      requests.push({
        headers,
        lines: text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Line),
      });
      answer(response);
    });
  });
  const close = closerOf(server);

  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events?token=secret-in-the-address`;
    world = await openApiWorld({
      open,
      eventExport: { attempt: (...args) => exporters[0]!.attempt(...args) },
    });
    const { store, secrets, clock } = world;
    const egress = { allowed: parseAllowedNetworks('--allow-egress', ['127.0.0.1:*']) };
    const host = () => 'control.example.com';
    const options = { store, secrets, clock, egress, host, log: silentLog, auditFields: auditAnswerOf };
    exporters = [1, 2].map(() => new EventExporter(options));
  });
  after(async () => {
    await Promise.all(exporters.map((each) => each.close()));
    await world.close();
    close();
  });
  afterEach(async () => {
    answer = accept;
    await world.call('DELETE', '/event-export');
    requests.length = 0;
  });
  answer = accept;

  const set = async (body: object = {}): Promise<void> => {
    const made = await world.call('PUT', '/event-export', { body: { url, ...body } });
    assert.equal(made.status, 200, made.text);
  };
  const state = async () => (await world.call('GET', '/event-export')).body as State;
  /** Leases of the exporters end. */
  const later = async (ms = 61_000) => {
    world.clock.advance(ms);
    await Promise.all(exporters.map((each) => each.pass()));
  };
  const rename = async (name: string) => {
    const path = `/frontdoor/${world.first.frontdoorId}`;
    const changed = await world.call('PATCH', path, { body: { name } });
    assert.equal(changed.status, 200, changed.text);
  };
  const publish = () =>
    world.store.transaction((trx, touch) =>
      publishEvent(
        trx,
        touch,
        { organizationId: world.first.organizationId, type: 'agent.away', data: { total: 1 } },
        world.clock.nowMs(),
      ),
    );
  const lines = () => requests.flatMap((each) => each.lines);
  const actions = () => lines().map(({ kind, action, type }) => (kind === 'audit' ? action : type));

  it('does not give the secret to another origin', async () => {
    await set({ secret: 'Bearer t0k3n' });
    await set({ url: `${new URL(url).origin}/elsewhere` });
    assert.equal((await state()).hasSecret, true);
    const elsewhere = 'https://other.example.com/events';
    const refused = await world.call('PUT', '/event-export', { body: { url: elsewhere } });
    assert.deepEqual([refused.status, (await state()).hasSecret], [400, true], refused.text);
    await set({ url: elsewhere, secret: null });
    assert.equal((await state()).hasSecret, false);
  });

  it('sends each event once by two control planes, from its start on, with the secret in its header', async () => {
    await rename('before');
    await set({ secret: 'Bearer t0k3n' });
    await rename('after');
    await publish();
    await later();
    await later();
    assert.deepEqual(actions(), ['setEventExport', 'changeFrontdoor', 'agent.away']);
    assert.equal(
      requests.every(({ headers }) => headers.authorization === 'Bearer t0k3n'),
      true,
    );
    assert.equal(requests[0]!.headers['content-type'], 'application/x-ndjson');
    const [setting, changed, away] = lines();
    assert.equal(setting!.organizationId, null);
    assert.equal(changed!.organizationId, world.first.organizationId);
    assert.partialDeepStrictEqual(changed!.after, { name: 'after' });
    assert.ok(away!.id.length > 0);
    const now = await state();
    assert.deepEqual([now.waiting, now.delivered, now.failures, now.oldestWaitingAt], [0, 3, 0, null]);
    assert.ok(now.lastDeliveredAt !== null);
    const shown = (await world.call('GET', '/event-export')).text;
    const rows = await world.store.db.selectFrom('event_export').selectAll().execute();
    const trail = await world.store.db.selectFrom('audit_event').selectAll().execute();
    for (const text of [shown.replace(url, ''), JSON.stringify([rows, trail])])
      assert.ok(!text.includes('t0k3n') && !text.includes('secret-in-the-address'), text);
  });

  it('sends the same events again until the collector accepts them, and loses none over a restart', async () => {
    await set();
    await later();
    requests.length = 0;
    await rename('one');
    await publish();
    answer = (response) => void response.writeHead(503).end();
    await later();
    assert.deepEqual(actions(), ['changeFrontdoor', 'agent.away']);
    await rename('two');
    const failing = await state();
    assert.deepEqual([failing.waiting, failing.failures], [3, 1]);
    assert.match(failing.lastProblem!, /answered 503/);
    // Nothing that waits is removed as finished.
    await deleteFinished(world.store.db, world.clock.nowMs(), 1_000);
    // It pauses before the next attempt.
    await later(1_000);
    assert.equal(requests.length, 1);
    await Promise.all(exporters.map((each) => each.close()));
    // It closes the lease, so that another control plane sends at once.
    const { lease_until: leased } = await world.store.db
      .selectFrom('event_export')
      .select('lease_until')
      .executeTakeFirstOrThrow();
    assert.equal(leased, 0);
    const { store, secrets, clock } = world;
    const egress = { allowed: parseAllowedNetworks('--allow-egress', ['127.0.0.1:*']) };
    const options = { store, secrets, clock, egress, log: silentLog, auditFields: auditAnswerOf };
    exporters = [1, 2].map(() => new EventExporter({ ...options, host: () => 'control' }));
    answer = accept;
    requests.length = 0;
    await later();
    assert.deepEqual(actions(), ['changeFrontdoor', 'changeFrontdoor', 'agent.away']);
    assert.equal((await state()).waiting, 0);
  });

  it('sends the whole past on request, in batches, each chain in its order', async () => {
    await set({ from: 'beginning', gzip: true });
    const { store, first } = world;
    const head = await store.db
      .selectFrom('audit_head')
      .selectAll()
      .where('organization_id', '=', first.organizationId)
      .executeTakeFirstOrThrow();
    const row = await store.db
      .selectFrom('audit_event')
      .selectAll()
      .where('organization_id', '=', first.organizationId)
      .where('sequence', '=', head.sequence)
      .executeTakeFirstOrThrow();
    const more = Array.from({ length: 250 }, (_, n) => ({
      ...row,
      id: `more-${world.clock.nowMs()}-${n}`,
      sequence: head.sequence + 1 + n,
    }));
    for (let at = 0; at < more.length; at += 50)
      await store.db
        .insertInto('audit_event')
        .values(more.slice(at, at + 50))
        .execute();
    await store.db
      .updateTable('audit_head')
      .set({ sequence: head.sequence + more.length })
      .where('organization_id', '=', first.organizationId)
      .execute();
    await later();
    const own = lines().filter(({ organizationId }) => organizationId === first.organizationId);
    const count = head.sequence + more.length;
    assert.deepEqual(
      own.map(({ sequence }) => sequence),
      Array.from({ length: count }, (_, n) => n + 1),
    );
    assert.ok(requests.length >= 3);
    assert.ok(requests.every(({ headers }) => headers['content-encoding'] === 'gzip'));
  });

  it('sends syslog with octet counting', async () => {
    let text = '';
    const syslog = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    });
    const closeSyslog = closerOf(syslog);
    await once(syslog.listen(0, '127.0.0.1'), 'listening');
    const { port } = syslog.address() as AddressInfo;
    await set({ url: `tcp://127.0.0.1:${port}` });
    await rename('ü');
    await later();
    closeSyslog();
    const bytes = Buffer.from(text);
    const messages: string[] = [];
    for (let at = 0; at < bytes.length;) {
      const space = bytes.indexOf(' ', at);
      const length = Number(bytes.subarray(at, space).toString());
      messages.push(bytes.subarray(space + 1, space + 1 + length).toString());
      at = space + 1 + length;
    }
    assert.equal(messages.length, 2);
    for (const message of messages) {
      const form =
        /^<110>1 \d{4}-\d\d-\d\dT[\d:.]+Z control(?:\.example\.com)? frontdoor - audit - (\{.*\})$/;
      const [, json] = form.exec(message)!;
      assert.equal((JSON.parse(json!) as Line).kind, 'audit');
    }
    assert.match(messages[1]!, /"name":"ü"/);
    assert.equal((await state()).waiting, 0);
  });

  it('sends the whole past if that is set while a batch is under way', async () => {
    await set();
    await later();
    await rename('in the past');
    requests.length = 0;
    const held: ServerResponse[] = [];
    answer = (response) => void held.push(response);
    const passing = later();
    await until(
      'the batch',
      () => held.length,
      (now) => now > 0,
    );
    await set({ from: 'beginning' });
    answer = accept;
    for (const response of held) accept(response);
    await passing;
    requests.length = 0;
    await later();
    const own = lines().filter(({ organizationId }) => organizationId === world.first.organizationId);
    assert.equal(own[0]?.sequence, 1);
    assert.equal((await state()).waiting, 0);
  });

  it('sends events of other chains although those of one are gone', async () => {
    await set();
    await later();
    requests.length = 0;
    await world.store.db
      .insertInto('audit_head')
      .values({ organization_id: 'cut', sequence: 3, hash: '' })
      .execute();
    await rename('after the cut');
    await later();
    assert.ok(actions().includes('changeFrontdoor'), String(actions()));
  });

  it('sends the others although one is damaged, and names that one', async () => {
    await set();
    await later();
    requests.length = 0;
    await rename('damaged');
    const { organizationId } = world.first;
    const own = world.store.db.selectFrom('audit_head').select('sequence');
    const { sequence } = await own.where('organization_id', '=', organizationId).executeTakeFirstOrThrow();
    await world.store.db
      .updateTable('audit_event')
      .set({ at: 9e15 })
      .where('organization_id', '=', organizationId)
      .where('sequence', '=', sequence)
      .execute();
    await rename('whole');
    await later();
    const [damaged, whole] = lines().filter((line) => line.organizationId === organizationId);
    assert.partialDeepStrictEqual(damaged, { kind: 'audit', damaged: true });
    assert.equal(whole?.sequence, sequence + 1);
    // The other tests send the whole trail.
    await world.store.db.updateTable('audit_event').set({ at: 1 }).where('at', '=', 9e15).execute();
  });

  it('leaves out all that waits if it is set to begin now', async () => {
    await set({ enabled: false });
    await rename('waits');
    await publish();
    await set({ from: 'now' });
    await later();
    assert.deepEqual(actions(), ['setEventExport']);
  });

  it('is tested, paused and stopped by operators alone', async () => {
    const { authorization } = await world.addAccount(
      world.first.organizationId,
      'frontdoor.read frontdoor.write frontdoor.organization',
    );
    assert.equal((await world.call('GET', '/event-export', { authorization })).status, 403);
    assert.equal((await world.call('PUT', '/event-export', { authorization, body: { url } })).status, 403);
    assert.equal((await world.call('POST', '/event-export/test')).status, 404);
    for (const body of [
      { url: 'ftp://a.example.com/' },
      { url: 'tls://siem.example.com' },
      { url: 'tls://siem.example.com:6514/path' },
      { url: 'tls://siem.example.com:6514', secret: 'a' },
      { url: 'tls://siem.example.com:6514', gzip: true },
      { url, header: 'content-length', secret: 'a' },
      { url, secret: 'a\r\nx: y' },
    ])
      assert.equal((await world.call('PUT', '/event-export', { body })).status, 400, JSON.stringify(body));
    await set();
    const tested = await world.call('POST', '/event-export/test');
    assert.deepEqual(tested.body, { delivered: true, problem: null });
    assert.equal(lines()[0]!.kind, 'test');
    await set({ enabled: false });
    requests.length = 0;
    await later();
    assert.equal(requests.length, 0);
    assert.ok((await state()).waiting > 0);
    await set({ url: 'https://10.0.0.1/' });
    await later();
    assert.match((await state()).lastProblem!, /is not fetched/);
    assert.equal((await world.call('DELETE', '/event-export')).status, 204);
    assert.deepEqual(await world.store.db.selectFrom('audit_export').selectAll().execute(), []);
  });
});
