// The stream of events over `/fabric/v1/ws-api`, as OpenZiti's clients use it: frames in the messages of a WebSocket.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { contentType, encodeFrame, makeFrame } from '#wire';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import type { CircuitEvent } from '../../overlay/model/mod.ts';
import type { UsageInterval } from '../../overlay/model/fabric-events.ts';
import { FABRIC_EVENTS_PATH } from './fabric-event-routes.ts';
import { FabricStreamReader } from './fabric-stream-fixture.ts';
import { CREDENTIALS, openManagementFixture, type ManagementFixture } from './management-fixture.ts';
import { until } from '../../../../test/support/deadline.ts';

const UPGRADE = { connection: 'Upgrade', upgrade: 'websocket' };
const KEY = { 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' };

let api: ManagementFixture;
/** The token of the fixture's administrator. Each log-in costs a computation of a hash. */
let ownToken: string;
before(async () => {
  api = await openManagementFixture();
  ownToken = (await api.logIn()).data.token;
});
after(() => api.close());

/** A reader with the session of the administrator. */
const Reader = { open: (token = ownToken) => FabricStreamReader.open(api, { 'zt-session': token }) };

const usage: UsageInterval = {
  circuitId: 'c1',
  usage: { 'ingress.rx': 47, 'ingress.tx': 11 },
  intervalStartS: 1_700_000_040,
  intervalLengthS: 60,
  tags: { serviceId: 's1', clientId: 'i1' },
};
const head = { event_src_id: 'ctrl', source_id: 'r1', circuit_id: 'c1' };
const tail = { interval_start_utc: 1_700_000_040, interval_length: 60, tags: usage.tags };
const circuit: CircuitEvent = {
  type: 'created',
  circuitId: 'c1',
  clientId: 'session',
  serviceId: 's1',
  terminatorId: 't1',
  instanceId: '',
  routerIds: ['r1'],
  linkIds: [],
  ingressAddress: 'in',
  egressAddress: 'out',
  cost: 7,
  creationMs: 2,
  durationMs: undefined,
  failureCause: undefined,
  tags: { serviceId: 's1' },
};

describe('the stream of events', () => {
  it('is for administrators, and its path for WebSockets alone', async () => {
    const token = ownToken;
    const get = async (path: string, headers: Record<string, string>) =>
      (await rawRequest(api, { path, headers })).status;
    for (const own of [{}, { 'zt-session': 'x' }])
      assert.equal(await get(FABRIC_EVENTS_PATH, { ...UPGRADE, ...KEY, ...own }), 401);
    assert.equal(await get(FABRIC_EVENTS_PATH, { 'zt-session': token }), 400);
    assert.equal(await get(FABRIC_EVENTS_PATH, { ...UPGRADE, 'zt-session': token }), 400, 'a bad handshake');
    // Elsewhere, the request for another protocol has no effect, as before.
    assert.equal(await get('/version', { ...UPGRADE, ...KEY }), 200);
    assert.equal(await get('/version', { connection: 'Upgrade', upgrade: 'h2c' }), 200);
    await Reader.open().then(({ socket }) => socket.terminate());
  });

  it('has usage in both versions, under the name that was subscribed to', async () => {
    const [old, both] = [await Reader.open(), await Reader.open()];
    assert.equal(await old.subscribe({ type: 'fabric.usage', options: { version: 3 } }), 'ok success');
    assert.equal(
      await both.subscribe(
        { type: 'usage', options: { version: 3, include: ['ingress.tx'] } },
        { type: 'usage', options: null },
      ),
      'ok success',
    );
    api.events.emit('usage', { routerId: 'r1', circuits: [usage, { ...usage, circuitId: 'c2', tags: {} }] });
    assert.deepEqual(await old.event(), {
      type: 'usage.v3',
      event: { namespace: 'fabric.usage', ...head, version: 3, usage: usage.usage, ...tail },
    });
    assert.equal((await old.event()).event['tags'], null);
    const v3 = await both.event();
    assert.deepEqual(v3.event['usage'], { 'ingress.tx': 11 });
    await both.event();
    const v2 = {
      namespace: 'usage',
      ...head,
      version: 2,
      event_type: 'usage.ingress.rx',
      usage: 47,
      ...tail,
    };
    assert.deepEqual(await both.event(), { type: 'usage', event: v2 });
    for (const { socket } of [old, both]) socket.terminate();
    await until(
      'no listener',
      () => api.events.has('usage'),
      (has) => !has,
    );
  });

  it('has circuits and routers', async () => {
    const reader = await Reader.open();
    await reader.subscribe(
      { type: 'circuit', options: { include: ['created', 'failed'] } },
      { type: 'router' },
    );
    api.events.emit('circuit', circuit);
    const { creationMs: _made, cost: _cost, ...rest } = circuit;
    api.events.emit('circuit', { ...rest, type: 'deleted', durationMs: 9, creationMs: undefined, cost: 1 });
    api.events.emit('circuit', { ...circuit, type: 'failed', routerIds: [], failureCause: 'NO_TERMINATORS' });
    api.events.emit('router', { routerId: 'r1', isOnline: false });
    const path = { nodes: ['r1'], links: null, ingress_id: 'in', egress_id: 'out' };
    assert.deepEqual(await reader.event(), {
      type: 'circuit',
      event: {
        namespace: 'circuit',
        event_src_id: 'ctrl',
        version: 2,
        event_type: 'created',
        circuit_id: 'c1',
        client_id: 'session',
        service_id: 's1',
        terminator_id: 't1',
        instance_id: '',
        creation_timespan: 2_000_000,
        path,
        link_count: 0,
        path_cost: 7,
        tags: { serviceId: 's1' },
      },
    });
    const { event } = await reader.event();
    assert.deepEqual([event['event_type'], event['failure_cause']], ['failed', 'NO_TERMINATORS']);
    const router = { event_type: 'router-offline', router_id: 'r1', router_online: false };
    assert.deepEqual((await reader.event()).event, { namespace: 'router', event_src_id: 'ctrl', ...router });
    reader.socket.terminate();
  });

  it('has links and terminators', async () => {
    const reader = await Reader.open();
    assert.equal(await reader.subscribe({ type: 'fabric.links' }, { type: 'terminator' }), 'ok success');
    const ends = { sourceId: 'r1', destinationId: 'r2', protocol: 'tls', dialAddress: 'tls:r2:1' };
    const connections = [{ type: 'single', localAddress: 'a', remoteAddress: 'b' }];
    api.events.emit('link', { type: 'fault', linkId: 'l1', ...ends, cost: 1, connections });
    assert.deepEqual(await reader.event(), {
      type: 'link',
      event: {
        namespace: 'fabric.links',
        event_src_id: 'ctrl',
        event_type: 'fault',
        link_id: 'l1',
        cost: 1,
        src_router_id: 'r1',
        dst_router_id: 'r2',
        protocol: 'tls',
        dial_address: 'tls:r2:1',
        connections: [{ id: 'single', local_addr: 'a', remote_addr: 'b' }],
      },
    });
    api.events.emit('terminator', {
      type: 'created',
      terminatorId: 't1',
      serviceId: 's1',
      routerId: 'r1',
      hostId: 'i1',
      instanceId: '',
      isRouterOnline: true,
      precedence: 'default',
      staticCost: 3,
      dynamicCost: 5,
      total: 2,
      usableDefault: 1,
      usableRequired: 0,
    });
    assert.deepEqual((await reader.event()).event, {
      namespace: 'terminator',
      event_src_id: 'ctrl',
      event_type: 'created',
      service_id: 's1',
      terminator_id: 't1',
      router_id: 'r1',
      host_id: 'i1',
      instance_id: '',
      router_online: true,
      precedence: 'default',
      static_cost: 3,
      dynamic_cost: 5,
      total_terminators: 2,
      usable_default_terminators: 1,
      usable_required_terminators: 0,
    });
    reader.socket.terminate();
  });

  it('has log-ins, sessions, clients and connections', async () => {
    const reader = await Reader.open();
    const kinds = ['edge.apiSessions', 'edge.sessions', 'sdk', 'connect'].map((type) => ({ type }));
    assert.equal(await reader.subscribe(...kinds), 'ok success');
    const session = { sessionId: 'a1', identityId: 'i1', isSigned: false };
    api.events.emit('apiSession', { type: 'created', ...session });
    api.events.emit('session', {
      ...session,
      sessionId: 's1',
      sessionType: 'Dial',
      apiSessionId: 'a1',
      serviceId: 'w1',
    });
    api.events.emit('sdk', { identityId: 'i1', isOnline: true });
    const dialed = { sourceType: 'identity', sourceId: 'i1', sourceAddress: '192.0.2.1:9' } as const;
    api.events.emit('connect', {
      ...dialed,
      destinationType: 'ctrl',
      destinationId: undefined,
      destinationAddress: 'c:1',
      atMs: undefined,
    });
    assert.deepEqual(await reader.event(), {
      type: 'apiSession',
      event: {
        namespace: 'edge.apiSessions',
        event_src_id: 'ctrl',
        event_type: 'created',
        id: 'a1',
        type: 'legacy',
        identity_id: 'i1',
      },
    });
    assert.deepEqual((await reader.event()).event, {
      namespace: 'edge.sessions',
      event_src_id: 'ctrl',
      event_type: 'created',
      provider: 'legacy',
      session_type: 'Dial',
      id: 's1',
      api_session_id: 'a1',
      identity_id: 'i1',
      service_id: 'w1',
    });
    const online = { namespace: 'sdk', event_src_id: 'ctrl', event_type: 'sdk-online', identity_id: 'i1' };
    assert.deepEqual((await reader.event()).event, online);
    assert.deepEqual((await reader.event()).event, {
      namespace: 'connect',
      event_src_id: 'ctrl',
      src_type: 'identity',
      src_id: 'i1',
      dst_type: 'ctrl',
      src_addr: '192.0.2.1:9',
      dst_id: 'ctrl',
      dst_addr: 'c:1',
    });
    reader.socket.terminate();
  });

  it('has the sessions of clients as they ask for them', async () => {
    const reader = await Reader.open();
    await reader.subscribe({ type: 'session' });
    const { id, identity } = await api.enroll('asking');
    const { id: service } = await api.share({ environmentId: id, name: 'asked' });
    const tls = { cert: identity.certPem, key: identity.keyPem };
    const logIn = { method: 'POST', path: '/authenticate?method=cert', body: '{}' };
    const { headers } = await rawRequest(api, { ...logIn, ...tls });
    const body = JSON.stringify({ serviceId: service, type: 'Bind' });
    const session = { 'zt-session': String(headers['zt-session']) };
    await rawRequest(api, { method: 'POST', path: '/sessions', body, headers: session, ...tls });
    const { event } = await reader.event();
    const { session_type, identity_id, service_id, provider } = event;
    assert.deepEqual([session_type, identity_id, service_id, provider], ['Bind', id, service, 'legacy']);
    reader.socket.terminate();
  });

  it('has dials, alerts and control planes', async () => {
    const reader = await Reader.open();
    const kinds = ['service', 'services', 'alert', 'cluster'].map((type) => ({ type }));
    assert.equal(await reader.subscribe(...kinds), 'ok success');
    const dials = { serviceId: 's1', terminatorId: 't1', count: 3, intervalStartS: 60, intervalLengthS: 60 };
    api.events.emit('service', { type: 'service.dial.success', ...dials });
    const source = { sourceType: 'router', sourceId: 'r1', severity: 'error', message: 'no address' };
    api.events.emit('alert', { ...source, atMs: 1, details: ['eth0'], relatedEntities: { router: 'r1' } });
    const addresses = ['tls:a:1'];
    api.events.emit('cluster', { type: 'members.changed', index: 7, addresses });
    const { event } = await reader.event();
    assert.deepEqual(event, {
      namespace: 'service',
      event_src_id: 'ctrl',
      version: 2,
      event_type: 'service.dial.success',
      terminator_id: 't1',
      service_id: 's1',
      count: 3,
      interval_start_utc: 60,
      interval_length: 60,
    });
    assert.equal((await reader.event()).event['namespace'], 'service.events');
    assert.deepEqual((await reader.event()).event, {
      namespace: 'alert',
      event_src_id: 'ctrl',
      alert_source_type: 'router',
      alert_source_id: 'r1',
      severity: 'error',
      message: 'no address',
      details: ['eth0'],
      related_entities: { router: 'r1' },
    });
    assert.deepEqual((await reader.event()).event, {
      namespace: 'cluster',
      event_src_id: 'ctrl',
      eventType: 'members.changed',
      index: 7,
      peers: [{ addr: 'tls:a:1', apiAddresses: null }],
    });
    reader.socket.terminate();
  });

  it('has entities before and after a change, and that it is stored', async () => {
    const reader = await Reader.open();
    await reader.subscribe({ type: 'entityChange' });
    const id = await api.make('edge-router-policies', { name: 'changed', semantic: 'AnyOf' });
    const [made, committed] = [await reader.event(), await reader.event()];
    const { metadata, finalState, initialState, eventId, ...rest } = made.event;
    assert.deepEqual(rest, {
      namespace: 'entityChange',
      event_src_id: 'ctrl',
      eventType: 'created',
      isParentEvent: false,
      entityType: 'edgeRouterPolicies',
    });
    const { name, id: ownId } = finalState as Record<string, unknown>;
    assert.deepEqual([ownId, name, initialState], [id, 'changed', null]);
    const { author } = metadata as { author: Record<string, unknown> };
    assert.deepEqual([author['type'], author['id']], ['identity', api.adminId]);
    assert.deepEqual([committed.event['eventType'], committed.event['eventId']], ['committed', eventId]);
    assert.equal((await api.call('PATCH', `edge-router-policies/${id}`, { semantic: 'x' })).status, 400);
    await api.call('DELETE', `edge-router-policies/${id}`);
    const { event } = await reader.event();
    assert.deepEqual([event['eventType'], event['finalState']], ['deleted', null]);
    reader.socket.terminate();
  });

  it('counts entities at once and in intervals', async () => {
    const reader = await Reader.open();
    for (const interval of ['0s', '25h', '5', 'x', 3])
      assert.match(
        await reader.subscribe({ type: 'entityCount', options: { interval } }),
        /entityCount: interval .* is not from 1s to 24h/,
      );
    await reader.subscribe({ type: 'edge.entityCounts', options: { interval: '0h0m1.0s' } });
    for (let count = 0; count < 2; count += 1) {
      const { type, event } = await reader.event();
      const { counts } = event as { counts: Record<string, number> };
      assert.deepEqual([type, event['namespace']], ['entityCount', 'edge.entityCounts']);
      assert.deepEqual(
        [counts['identities']! > 0, counts['services']],
        [true, api.model.edge.count('service')],
      );
    }
    reader.socket.terminate();
  });

  it('has the metrics of routers that filters select, and refuses filters whose search can be long', async () => {
    const reader = await Reader.open();
    for (const metricFilter of ['(a+)+', 'a{9}', '.*.*.*', '\\1', '[', 'x'.repeat(201), 3])
      assert.match(
        await reader.subscribe({ type: 'metrics', options: { metricFilter } }),
        /^metrics: filter /,
      );
    const options = { metricFilter: '^link\\..*[mM]ean$', sourceFilter: 'r[12]' };
    assert.equal(await reader.subscribe({ type: 'metrics', options }), 'ok success');
    const metrics = [
      { name: 'link.l1.latency', type: 'histogram', values: { mean: 5, max: 9 } },
      { name: 'xgress.dials', type: 'intValue', values: { value: 1 } },
    ] as const;
    const linkEnds = (id: string) => (id === 'l1' ? { sourceId: 'r1', destinationId: 'r2' } : undefined);
    const report = { atMs: 1, eventId: 'e1', tags: {}, metrics, linkEnds };
    for (const routerId of ['r3', 'r1']) api.events.emit('metrics', { ...report, routerId });
    assert.deepEqual(await reader.event(), {
      type: 'metrics',
      event: {
        namespace: 'metrics',
        event_src_id: 'ctrl',
        source_id: 'r1',
        version: 3,
        source_event_id: 'e1',
        metric_type: 'histogram',
        metric: 'link.latency',
        metrics: { mean: 5 },
        source_entity_id: 'l1',
        tags: { sourceRouterId: 'r1', targetRouterId: 'r2' },
      },
    });
    reader.socket.terminate();
  });

  it('refuses by name what it does not have, and subscribes to nothing then', async () => {
    const reader = await Reader.open();
    const wrong: readonly [object, RegExp][] = [
      [{ type: 'authorization' }, /event type authorization is not supported: alert/],
      [{ type: 'session', options: { include: 'deleted' } }, /invalid include deleted: created/],
      [{ type: 'constructor' }, /event type constructor is not supported/],
      [{ type: 'usage', options: { version: 4 } }, /unsupported version 4/],
      [{ type: 'usage', options: { version: 3, include: ['x'] } }, /invalid include x/],
      [{ type: 'circuit', options: { since: 1 } }, /option since is not supported/],
    ];
    for (const [subscription, text] of wrong)
      assert.match(await reader.subscribe({ type: 'router' }, subscription), text);
    assert.equal(api.events.has('router'), false);
    assert.match(await reader.request({ format: 'plain' }), /invalid format \['plain'\]/);
    assert.match(await reader.request({}, 10_070), /^type 10070 is not supported/);
    reader.socket.terminate();
  });

  it('cuts a reader that is too slow, sends no whole frame, or asks too often', async () => {
    const slow = await Reader.open();
    await slow.subscribe({ type: 'usage', options: { version: 3 } });
    slow.socket.pause();
    const report = { routerId: 'r1', circuits: Array.from({ length: 20_000 }, () => usage) };
    for (let count = 0; api.events.has('usage') && count < 20; count += 1) api.events.emit('usage', report);
    assert.equal(api.events.has('usage'), false);
    slow.socket.resume();
    await slow.closed();
    assert.ok(api.logged.some((line) => line.includes('the reader is too slow')));
    const [half, text, often] = [await Reader.open(), await Reader.open(), await Reader.open()];
    half.socket.send(encodeFrame(makeFrame(contentType.streamEventsRequest, { body: 'x' })).subarray(0, 19));
    await half.closed();
    text.socket.send('text');
    await text.closed();
    for (let count = 0; count < 8; count += 1) await often.subscribe({ type: 'x' });
    often.socket.send(encodeFrame(makeFrame(contentType.streamEventsRequest, { body: '{}' })));
    await often.closed();
  });

  it('gives each administrator few streams, and ends them with the right', async () => {
    const username = 'watcher';
    const id = await api.make('identities', { name: username, isAdmin: true });
    const { password } = CREDENTIALS;
    await api.make('authenticators', { method: 'updb', identityId: id, username, password });
    const { token } = (await api.logIn({ username, password })).data;
    const readers = await Promise.all(Array.from({ length: 8 }, () => Reader.open(token)));
    const headers = { ...UPGRADE, ...KEY, 'zt-session': token };
    assert.equal((await rawRequest(api, { path: FABRIC_EVENTS_PATH, headers })).status, 429);
    const other = await Reader.open();
    await api.call('PATCH', `identities/${id}`, { isAdmin: false });
    await Promise.all(readers.map((reader) => reader.closed()));
    assert.equal(other.socket.readyState, WebSocket.OPEN);
    other.socket.terminate();
  });
});
