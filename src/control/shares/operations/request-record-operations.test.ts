import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, it } from 'node:test';
import type {
  FailureAnswer,
  FailureGroupAnswer,
  InspectedRequestEntryAnswer,
  InspectedRequestAnswer,
  InspectorAnswer,
  UnroutedFailureAnswer,
} from '#contract/schemas';
import { silentLog } from '#base';
import { NO_SHARE, type InspectedRequest, type RequestFailure } from '#domain/gateway-shapes';
import {
  putFailures,
  putInspected,
  MAX_INSPECTED_PER_SHARE,
  sweepRequestRecords,
} from '../records/request-record-store.ts';
import { putUnroutedFailures, MAX_UNROUTED_FAILURES } from '../records/unrouted-failure-store.ts';
import { RequestRecordSweep } from '../records/request-record-sweep.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

const timings = { decidedMs: 0.1, circuitMs: 2.5, firstByteMs: null, doneMs: 30.25 };

function failureOf(id: string, shareId: string, more: Partial<RequestFailure> = {}): RequestFailure {
  return {
    id,
    at: 1_700_000_000_000,
    shareId,
    frontdoorId: 'what the gateway says',
    status: 502,
    code: 'service-refused',
    hop: 'service',
    cause: 'connection refused',
    method: 'GET',
    host: 'app.share.localhost',
    path: '/orders',
    client: '192.0.2.7',
    identity: null,
    decision: 'open',
    traceId: null,
    timings,
    ...more,
  };
}

function inspectedOf(id: string, shareId: string, more: Partial<InspectedRequest> = {}): InspectedRequest {
  const body = Buffer.from('{"a":1}').toString('base64');
  const headers = [
    ['Host', 'app.share.localhost'],
    ['Content-Type', 'application/json'],
    ['Authorization', '********'],
  ] as const;
  return {
    id,
    replayOf: null,
    at: 1_700_000_000_000,
    shareId,
    frontdoorId: 'x',
    method: 'POST',
    host: 'app.share.localhost',
    target: '/orders?page=1',
    client: '192.0.2.7',
    identity: 'ann',
    decision: 'session',
    status: 201,
    failure: null,
    traceId: null,
    timings,
    request: { headers, body, bodyBytes: 7, isTruncated: false },
    answer: { headers: [['Content-Type', 'text/plain']], body: '', bodyBytes: 0, isTruncated: false },
    ...more,
  };
}

describeEachStore('records of requests', (open) => {
  let world: ApiWorld;
  let door: (path: string) => string;
  before(async () => {
    world = await openApiWorld({ open });
    door = (path) => `/frontdoor/${world.first.frontdoorId}${path}`;
  });
  after(() => world.close());

  const newShare = async (): Promise<{ token: string; id: string }> => {
    const environmentId = await world.addEnvironment('env');
    const answer = await world.call('POST', door('/shares'), {
      body: { environmentId, shareMode: 'public', backendMode: 'proxy', target: 'http://127.0.0.1:9' },
    });
    const { token } = answer.body as { token: string };
    const row = await world.store.db
      .selectFrom('share')
      .select('id')
      .where('token', '=', token)
      .executeTakeFirstOrThrow();
    return { token, id: row.id };
  };
  const frontdoorOf = (): string => world.first.frontdoorId;
  const newId = (): string => randomUUID().replaceAll('-', '');
  const get = async <T>(path: string): Promise<T> => {
    const answer = await world.call('GET', door(path));
    assert.equal(answer.status, 200, answer.text);
    return answer.body as T;
  };

  it('show why a request failed, by its error id, with the next step; a repeated report is stored once', async () => {
    const share = await newShare();
    const [id, other] = [newId(), newId()];
    const records = [
      failureOf(id, share.id),
      failureOf(other, share.id, { at: 1_700_000_000_500, code: 'no-answer' }),
    ];
    for (let i = 0; i < 2; i += 1) await putFailures(world.store, { records, frontdoorOf });
    const failure = await get<FailureAnswer>(`/failures/${id}`);
    assert.match(failure.remedy, /start the service/);
    const { remedy: _remedy, ...rest } = failure;
    assert.deepEqual(rest, {
      errorId: id,
      shareToken: share.token,
      code: 'service-refused',
      hop: 'service',
      cause: 'connection refused',
      at: '2023-11-14T22:13:20.000Z',
      method: 'GET',
      host: 'app.share.localhost',
      path: '/orders',
      client: '192.0.2.7',
      identity: null,
      decision: 'open',
      status: 502,
      traceId: null,
      timingsMs: { decided: 0.1, circuit: 2.5, firstByte: null, done: 30.25 },
    });
    const list = await get<{ content: FailureAnswer[]; totalElements: number }>(
      `/failures?shareToken=${share.token}`,
    );
    assert.deepEqual([list.totalElements, list.content.map(({ errorId }) => errorId)], [2, [other, id]]);
  });

  it('that failed are grouped by code and hop, the most frequent first, and each group opens to its own', async () => {
    const [one, two] = [await newShare(), await newShare()];
    const atMs = 1_600_000_000_000;
    const failure = (share: { id: string }, minute: number, more: object = {}) =>
      failureOf(newId(), share.id, { at: atMs + minute * 60_000, ...more });
    const late = { code: 'service-timeout', cause: 'no answer in 30 s', status: 504 };
    const records = [failure(one, 1), failure(two, 3), failure(one, 2), failure(one, 9, late)];
    await putFailures(world.store, { records, frontdoorOf });
    const range = `from=${new Date(atMs).toISOString()}&to=${new Date(atMs + 3_600_000).toISOString()}`;
    type Groups = { content: FailureGroupAnswer[]; totalElements: number };
    const { content, totalElements } = await get<Groups>(`/failure-groups?${range}`);
    assert.equal(totalElements, 2);
    const [refused, timeout] = content;
    const { remedy, ...rest } = refused!;
    assert.match(remedy, /start the service/);
    assert.deepEqual(rest, {
      code: 'service-refused',
      hop: 'service',
      count: 3,
      shares: 2,
      firstAt: '2020-09-13T12:27:40.000Z',
      lastAt: '2020-09-13T12:29:40.000Z',
      cause: 'connection refused',
      status: 502,
      errorId: records[1]!.id,
      shareToken: two.token,
    });
    assert.partialDeepStrictEqual(timeout, { count: 1, shares: 1, status: 504, errorId: records[3]!.id });
    const ofShare = await get<Groups>(`/failure-groups?${range}&shareToken=${one.token}&size=1`);
    assert.deepEqual([ofShare.content[0]!.count, ofShare.content.length, ofShare.totalElements], [2, 1, 2]);
    const list = async (query: string) =>
      (await get<{ content: FailureAnswer[] }>(`/failures?${range}&${query}`)).content.map(
        ({ errorId }) => errorId,
      );
    assert.deepEqual(
      await list('code=service-refused&hop=service'),
      [1, 2, 0].map((at) => records[at]!.id),
    );
    assert.deepEqual(await list('code=service-timeout'), [records[3]!.id]);
    assert.deepEqual(await list('code=service-timeout&hop=router'), []);
    const { authorization } = world.other;
    const foreign = `/frontdoor/${world.other.frontdoorId}/failure-groups`;
    const { body } = await world.call('GET', foreign, { authorization });
    assert.deepEqual((body as Groups).content, []);
  });

  it('that are damaged are left out of lists, and not found', async () => {
    const share = await newShare();
    const [good, bad] = [newId(), newId()];
    const { db } = world.store;
    await putFailures(world.store, {
      records: [good, bad].map((id) => failureOf(id, share.id)),
      frontdoorOf,
    });
    await putInspected(world.store, {
      records: [good, bad].map((id) => inspectedOf(id, share.id)),
      frontdoorOf,
    });
    await db.updateTable('request_failure').set({ data: '{"id":7}' }).where('id', '=', bad).execute();
    await db.updateTable('inspected_request').set({ data: '{' }).where('id', '=', bad).execute();
    const failures = await get<{ content: FailureAnswer[] }>(`/failures?shareToken=${share.token}`);
    assert.deepEqual(
      failures.content.map(({ errorId }) => errorId),
      [good],
    );
    const requests = await get<{ content: InspectedRequestEntryAnswer[] }>(
      `/shares/${share.token}/inspector/requests`,
    );
    assert.deepEqual(
      requests.content.map(({ id }) => id),
      [good],
    );
    for (const path of [`/failures/${bad}`, `/shares/${share.token}/inspector/requests/${bad}`])
      assert.equal((await world.call('GET', door(path))).status, 404, path);
  });

  it('belong to their own frontdoor only, whatever the gateway states, and outlive their share', async () => {
    const share = await newShare();
    const id = newId();
    await putFailures(world.store, { records: [failureOf(id, share.id)], frontdoorOf });
    const foreign = await world.call('GET', `/frontdoor/${world.other.frontdoorId}/failures/${id}`, {
      authorization: world.other.authorization,
    });
    assert.equal(foreign.status, 404);
    await putFailures(world.store, { records: [failureOf(newId(), 'gone')], frontdoorOf: () => undefined });
    await world.call('DELETE', door(`/shares/${share.token}`));
    assert.equal((await get<FailureAnswer>(`/failures/${id}`)).shareToken, null);
  });

  it('go when their time is over, and the oldest of a frontdoor when there are more than ten thousand', async () => {
    const share = await newShare();
    const atMs = 1_700_000_000_000;
    const ids = Array.from({ length: 10_020 }, (_, i) => `many${String(i).padStart(8, '0')}`);
    const records = ids.map((id, i) => failureOf(id, share.id, { at: atMs + 1_000_000 + i }));
    await putFailures(world.store, { records, frontdoorOf });
    await sweepRequestRecords(world.store.db, atMs);
    const statusOf = async (id: string): Promise<number> =>
      (await world.call('GET', door(`/failures/${id}`))).status;
    assert.deepEqual(
      [await statusOf(ids[0]!), await statusOf(ids[19]!), await statusOf(ids.at(-1)!)],
      [404, 404, 200],
    );
    await sweepRequestRecords(world.store.db, atMs + 8 * 86_400_000);
    assert.equal(await statusOf(ids.at(-1)!), 404);
  });

  it('of hosts that no share has are read by administrators only', async () => {
    const id = newId();
    const unrouted = { ...failureOf(id, NO_SHARE), code: 'unknown-host', host: 'nobody.share.localhost' };
    const records = [{ ...unrouted, gatewayId: 'g1', gatewayName: 'gateway-1' }];
    for (let i = 0; i < 2; i += 1) await putUnroutedFailures(world.store, records);
    const found = await world.call('GET', `/failures/${id}`);
    assert.equal(found.status, 200, found.text);
    const { remedy, ...rest } = found.body as UnroutedFailureAnswer;
    assert.match(remedy, /^No share has this host name/);
    assert.deepEqual(rest, {
      errorId: id,
      gatewayId: 'g1',
      gatewayName: 'gateway-1',
      code: 'unknown-host',
      hop: 'service',
      cause: 'connection refused',
      at: '2023-11-14T22:13:20.000Z',
      method: 'GET',
      status: 502,
      host: 'nobody.share.localhost',
      path: '/orders',
      client: '192.0.2.7',
      traceId: null,
      timingsMs: { decided: 0.1, circuit: 2.5, firstByte: null, done: 30.25 },
    });
    // A tenant is answered alike for an id that exists and for one that does not.
    const { authorization, frontdoorId } = world.other;
    const answerOf = async (path: string) => {
      const { status, text } = await world.call('GET', path, { authorization });
      return [status, text.replace(/[0-9a-f]{32}/, 'ID')];
    };
    for (const path of ['/failures', `/frontdoor/${frontdoorId}/failures`])
      assert.deepEqual(await answerOf(`${path}/${id}`), await answerOf(`${path}/${newId()}`));
    assert.equal((await answerOf(`/failures/${id}`))[0], 403);
    assert.equal((await world.call('GET', `/failures/${newId()}`)).status, 404);
    // Those of shares are their owner's.
    const share = await newShare();
    const own = newId();
    await putFailures(world.store, { records: [failureOf(own, share.id)], frontdoorOf });
    assert.equal((await world.call('GET', `/failures/${own}`)).status, 404);
  });

  it('of hosts that no share has go when their time is over, and the oldest when there are too many', async () => {
    await world.store.db.deleteFrom('unrouted_failure').execute();
    const atMs = world.clock.nowMs();
    const unrouted = (id: string, at: number) => ({
      ...failureOf(id, NO_SHARE, { at }),
      gatewayId: 'g1',
      gatewayName: 'gateway-1',
    });
    const ids = Array.from({ length: MAX_UNROUTED_FAILURES + 1_500 }, (_, i) => `flood-${100_000 + i}`);
    const old = newId();
    await putUnroutedFailures(world.store, [
      unrouted(old, atMs - 7 * 86_400_000 - 1),
      ...ids.map((id, i) => unrouted(id, atMs - ids.length + i)),
    ]);
    const share = await newShare();
    const own = newId();
    await putFailures(world.store, { records: [failureOf(own, share.id, { at: atMs })], frontdoorOf });
    const sweep = new RequestRecordSweep({ store: world.store, clock: world.clock, log: silentLog });
    await sweep.sweep();
    await sweep.close();
    const kept = await world.store.db.selectFrom('unrouted_failure').select('id').orderBy('id').execute();
    assert.deepEqual(
      kept.map(({ id }) => id),
      ids.slice(1_500),
    );
    await get<FailureAnswer>(`/failures/${own}`);
  });

  it('are made of the requests of a share only when its owner asked, until then, for at most a day', async () => {
    const share = await newShare();
    const path = `/shares/${share.token}/inspector`;
    const off = { enabled: false, maxBodyBytes: 0, until: null };
    assert.deepEqual(await get<InspectorAnswer>(path), off);
    const put = (body: unknown) => world.call('PUT', door(path), { body });
    const inMs = (ms: number): string => new Date(world.clock.nowMs() + ms).toISOString();
    for (const until of [inMs(-1), inMs(86_400_001)])
      assert.equal((await put({ enabled: true, until })).status, 400, until);
    const on = { enabled: true, maxBodyBytes: 1_024, until: inMs(3_600_000) };
    assert.deepEqual((await put({ enabled: true, maxBodyBytes: 1_024 })).body, on);
    assert.deepEqual(await get<InspectorAnswer>(path), on);
    // Gateways are notified.
    const { inspection } = world.catalog.get(share.id)!;
    assert.deepEqual(inspection, { maxBodyBytes: 1_024, untilMs: world.clock.nowMs() + 3_600_000 });
    assert.deepEqual((await put({ enabled: false })).body, off);
    assert.equal(world.catalog.get(share.id)!.inspection, null);
    await put({ enabled: true, until: inMs(60_000) });
    world.clock.advance(60_001);
    assert.deepEqual(await get<InspectorAnswer>(path), off);
  });

  it('of a share are the latest two hundred, listed from the newest, shown whole one by one, and deleted together', async () => {
    const share = await newShare();
    const path = `/shares/${share.token}/inspector/requests`;
    const ids = Array.from({ length: MAX_INSPECTED_PER_SHARE + 5 }, newId);
    const records = ids.map((id, i) => inspectedOf(id, share.id, { at: 1_700_000_000_000 + i }));
    for (let i = 0; i < 2; i += 1) await putInspected(world.store, { records, frontdoorOf });
    const list = await get<{ content: InspectedRequestEntryAnswer[]; totalElements: number }>(
      `${path}?size=2`,
    );
    assert.equal(list.totalElements, MAX_INSPECTED_PER_SHARE);
    assert.deepEqual(
      list.content.map(({ id, requestBytes }) => [id, requestBytes]),
      [
        [ids.at(-1), 7],
        [ids.at(-2), 7],
      ],
    );
    const whole = await get<InspectedRequestAnswer>(`${path}/${ids.at(-1)}`);
    assert.equal(Buffer.from(whole.request.body!, 'base64').toString(), '{"a":1}');
    assert.deepEqual(whole.request.headers[2], { name: 'Authorization', value: '********' });
    assert.equal((await world.call('GET', door(`${path}/${ids[0]}`))).status, 404);
    const other = await newShare();
    assert.equal(
      (await world.call('GET', door(`/shares/${other.token}/inspector/requests/${ids.at(-1)}`))).status,
      404,
    );
    assert.equal((await world.call('DELETE', door(path))).status, 204);
    assert.equal((await get<{ totalElements: number }>(path)).totalElements, 0);
  });

  it('can be sent once more: without what was not shown, with what is given, to one gateway', async () => {
    const share = await newShare();
    const id = newId();
    await putInspected(world.store, { records: [inspectedOf(id, share.id)], frontdoorOf });
    const path = door(`/shares/${share.token}/inspector/requests/${id}/replay`);
    world.replays.length = 0;
    const body = Buffer.from('{"a":2}').toString('base64');
    const headers = [{ name: 'content-type', value: 'text/json' }];
    const answer = await world.call('POST', path, { body: { headers, body } });
    assert.equal(answer.status, 202, answer.text);
    assert.deepEqual(world.replays, [
      {
        type: 'replay',
        id: (answer.body as { id: string }).id,
        replayOf: id,
        shareId: share.id,
        method: 'POST',
        target: '/orders?page=1',
        headers: [
          ['Host', 'app.share.localhost'],
          ['content-type', 'text/json'],
        ],
        body,
      },
    ]);
    const event = await world.store.db
      .selectFrom('audit_event')
      .select(['action', 'target_id'])
      .orderBy('sequence', 'desc')
      .executeTakeFirst();
    assert.deepEqual(event, { action: 'replayInspectedRequest', target_id: share.token });
  });

  it('are not sent with half a body, nor with headers that would end theirs', async () => {
    const share = await newShare();
    const id = newId();
    const cut = { headers: [], body: '', bodyBytes: 70_000, isTruncated: true };
    await putInspected(world.store, { records: [inspectedOf(id, share.id, { request: cut })], frontdoorOf });
    const path = door(`/shares/${share.token}/inspector/requests/${id}/replay`);
    world.replays.length = 0;
    const statusOf = async (body: unknown): Promise<number> =>
      (await world.call('POST', path, { body })).status;
    assert.equal(await statusOf({}), 409);
    assert.equal(await statusOf({ body: 'no base64!' }), 400);
    for (const header of [
      { name: 'X-A', value: 'a\r\nX-B: b' },
      { name: 'X A', value: 'a' },
      { name: 'X-A\r\n', value: 'a' },
    ])
      assert.equal(await statusOf({ body: '', headers: [header] }), 400, JSON.stringify(header));
    assert.deepEqual(world.replays, []);
    assert.equal(await statusOf({ body: '' }), 202);
  });
});

describeEachStore('a control plane without a gateway', (open) => {
  it('answers that it cannot send a request once more', async () => {
    const world = await openApiWorld({ open, gatewayCommands: { send: () => false } });
    try {
      const environmentId = await world.addEnvironment('env');
      const door = `/frontdoor/${world.first.frontdoorId}`;
      const { body } = await world.call('POST', `${door}/shares`, {
        body: {
          environmentId,
          name: 'app',
          shareMode: 'public',
          backendMode: 'proxy',
          target: 'http://127.0.0.1:9',
        },
      });
      assert.ok(body);
      const { id: shareId } = await world.store.db.selectFrom('share').select('id').executeTakeFirstOrThrow();
      const records = [inspectedOf('recorded-request', shareId)];
      await putInspected(world.store, { records, frontdoorOf: () => world.first.frontdoorId });
      const path = `${door}/shares/app/inspector/requests/recorded-request/replay`;
      const answer = await world.call('POST', path, { body: {} });
      assert.equal(answer.status, 503);
      assert.match(answer.text, /No gateway is connected/);
    } finally {
      await world.close();
    }
  });
});
