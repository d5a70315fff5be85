// Events of circuits, usage, routers, links and terminators, with scripted routers.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { contentType } from '#wire';
import { RouteErrorCode, encodeRouteResult } from '#wire/circuits';
import { ctrlMessages, FaultSubject } from '#wire/ctrl';
import {
  FabricEvents,
  type CircuitEvent,
  type FabricEventTable,
  type UsageReport,
} from '../model/fabric-events.ts';
import { OverlayWorld } from '../testing/overlay-world.ts';
import type { ScriptedRouter } from '../testing/scripted-router.ts';

let world: OverlayWorld;
let router: ScriptedRouter;
let events: FabricEvents;
const circuits: CircuitEvent[] = [];

beforeEach(async () => {
  world = await OverlayWorld.open();
  events = new FabricEvents();
  circuits.length = 0;
  await world.addIdentity('env1', 'environment');
  await world.addIdentity('gw1', 'gateway');
  await world.addService('svc1', 'env1');
  await world.start({ events });
  router = await world.router('r1');
  await world.bind(router, 'env1', 'svc1', 'term1');
  await router.route();
  await router.next('unroute');
});
afterEach(() => world.close());

test('a circuit has an event when it begins and when it ends, with its path, times and tags', async () => {
  events.listen('circuit', (event) => void circuits.push(event));
  router.send(world.dialFrame('gw1', 'svc1'));
  const route = await router.route();
  await router.frame(contentType.createCircuitV2Response);
  world.clock.advance(1_500);
  router.send(ctrlMessages.fault.frame({ subject: FaultSubject.INGRESS_FAULT, id: route.circuitId }));
  await router.next('unroute');
  const [created, deleted] = circuits;
  assert.deepEqual([circuits.length, created?.type, deleted?.type], [2, 'created', 'deleted']);
  const { circuitId, clientId, serviceId, terminatorId, routerIds, linkIds, egressAddress } = created!;
  assert.deepEqual(
    [circuitId, clientId, serviceId, routerIds, linkIds, egressAddress],
    [route.circuitId, 'session-gw1', 'svc1', ['r1'], [], route.egress?.address],
  );
  assert.notEqual(terminatorId, '');
  assert.deepEqual(created?.tags, { serviceId: 'svc1', clientId: 'gw1', hostId: 'env1' });
  assert.deepEqual([created?.creationMs, created?.durationMs], [0, undefined]);
  assert.deepEqual([deleted?.creationMs, deleted?.durationMs], [undefined, 1_500]);
});

test('a dial that fails has an event with the cause', async () => {
  events.listen('circuit', (event) => void circuits.push(event));
  router.send(world.dialFrame('gw1', 'svc1'));
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const frame = await router.frame(contentType.route);
    const { circuitId } = ctrlMessages.route.decode(frame.body);
    const refused = { isSuccess: false, error: 'no', errorCode: RouteErrorCode.connectionRefused };
    router.send(encodeRouteResult(frame, { circuitId, attempt, ...refused, peerData: new Map() }));
  }
  await router.frame(contentType.error);
  const [failed] = circuits;
  assert.deepEqual(
    [circuits.length, failed?.type, failed?.failureCause, failed?.routerIds, failed?.tags],
    [1, 'failed', 'ROUTER_ERR_CONN_REFUSED', [], { serviceId: 'svc1', clientId: 'gw1' }],
  );
});

test('a report of usage is an event, unless another controller has it; routers come and go', async () => {
  const reports: UsageReport[] = [];
  events.listen('usage', (report) => void reports.push(report));
  const buckets = { c1: { values: { 'ingress.rx': 47n }, tags: { serviceId: 'svc1' } } };
  const usageCounters = [{ intervalStartUTC: 1_700_000_040n, intervalLength: 60n, buckets }];
  for (const doNotPropagate of [true, false])
    router.send(ctrlMessages.metrics.frame({ sourceId: 'not r1', usageCounters, doNotPropagate }));
  await router.settle();
  const interval = { intervalStartS: 1_700_000_040, intervalLengthS: 60 };
  const usage = { circuitId: 'c1', usage: { 'ingress.rx': 47 }, ...interval, tags: { serviceId: 'svc1' } };
  assert.deepEqual(reports, [{ routerId: 'r1', circuits: [usage] }]);

  const seen = new Promise((resolve) => {
    events.listen('router', ({ routerId, isOnline }) => void (isOnline && resolve(routerId)));
  });
  await world.router('r2');
  assert.equal(await seen, 'r2');
});

test('links and terminators have events as routers report them', async () => {
  const links: FabricEventTable['link'][] = [];
  const terminators: FabricEventTable['terminator'][] = [];
  events.listen('link', (event) => void links.push(event));
  events.listen('terminator', (event) => void terminators.push(event));
  await world.router('r2');
  const report = (...ids: string[]) =>
    ctrlMessages.routerLinks.frame({
      fullRefresh: true,
      links: ids.map((id) => ({ id, destRouterId: 'r2', iteration: 1, dialAddress: 'tls:r2:1' })),
    });
  for (const frame of [report('l1', 'l2'), report('l1', 'l2'), report('l1')]) router.send(frame);
  await world.bind(router, 'env1', 'svc1', 'term2');
  assert.deepEqual(
    links.map(({ type, linkId, sourceId, destinationId }) => [type, linkId, sourceId, destinationId]),
    [
      ['routerLinkNew', 'l1', 'r1', 'r2'],
      ['routerLinkNew', 'l2', 'r1', 'r2'],
      ['fault', 'l2', 'r1', 'r2'],
    ],
  );
  const [made] = terminators;
  const { type, serviceId, routerId, hostId, isRouterOnline, precedence, total, usableDefault } = made!;
  assert.deepEqual(
    [type, serviceId, routerId, hostId, isRouterOnline, precedence, total, usableDefault],
    ['created', 'svc1', 'r1', 'env1', true, 'default', 2, 2],
  );
});

test('clients, their connections, and alerts have events as routers report them', async () => {
  const sdks: FabricEventTable['sdk'][] = [];
  const connects: FabricEventTable['connect'][] = [];
  const alerts: FabricEventTable['alert'][] = [];
  events.listen('sdk', (event) => void sdks.push(event));
  events.listen('connect', (event) => void connects.push(event));
  events.listen('alert', (event) => void alerts.push(event));
  const connectTimes = [{ connectTime: 9n, srcAddr: '192.0.2.1:5', dstAddr: 'r1:3022' }];
  const present = (identityId: string, isConnected: boolean) =>
    ctrlMessages.connectEvents.frame({ events: [{ identityId, isConnected, connectTimes }] });
  for (const frame of [present('gw1', true), present('gw1', true), present('unknown', true)])
    router.send(frame);
  router.send(ctrlMessages.connectEvents.frame({ fullState: true }));
  const alert = {
    sourceType: 'router',
    sourceId: 'r1',
    timestamp: 7n,
    severity: 'error',
    message: 'no eth0',
  };
  router.send(ctrlMessages.alerts.frame({ alerts: [alert] }));
  await router.settle();
  assert.deepEqual(sdks, [
    { identityId: 'gw1', isOnline: true },
    { identityId: 'gw1', isOnline: false },
  ]);
  const dialed = { sourceType: 'identity', sourceId: 'gw1', sourceAddress: '192.0.2.1:5', atMs: 9 };
  const there = { destinationType: 'router', destinationId: 'r1', destinationAddress: 'r1:3022' };
  assert.deepEqual(connects, [
    { ...dialed, ...there },
    { ...dialed, ...there },
  ]);
  assert.deepEqual(
    alerts.map(({ atMs, sourceId, message }) => [atMs, sourceId, message]),
    [[7, 'r1', 'no eth0']],
  );
  await world.router('r2');
  const { sourceType, sourceId, destinationType, destinationId } = connects.at(-1)!;
  assert.deepEqual(
    [sourceType, sourceId, destinationType, destinationId],
    ['router', 'r2', 'ctrl', undefined],
  );
});

test('dials are counted by service and outcome, and each minute has its counts', async () => {
  const counts: unknown[] = [];
  world.controller.tick();
  events.listen('service', ({ intervalStartS: _start, ...event }) => void counts.push(event));
  for (let dial = 0; dial < 2; dial += 1) {
    router.send(world.dialFrame('gw1', 'svc1'));
    await router.route();
    await router.frame(contentType.createCircuitV2Response);
  }
  router.send(world.dialFrame('gw1', 'svc1'));
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const frame = await router.frame(contentType.route);
    const { circuitId } = ctrlMessages.route.decode(frame.body);
    const refused = { isSuccess: false, error: 'no', errorCode: RouteErrorCode.connectionRefused };
    router.send(encodeRouteResult(frame, { circuitId, attempt, ...refused, peerData: new Map() }));
  }
  await router.frame(contentType.error);
  world.controller.tick();
  assert.deepEqual(counts, []);
  world.clock.advance(60_000);
  world.controller.tick();
  const dials = { serviceId: 'svc1', intervalLengthS: 60 };
  assert.deepEqual(counts, [
    { ...dials, type: 'service.dial.success', terminatorId: 'term1', count: 2 },
    { ...dials, type: 'service.dial.fail', terminatorId: '', count: 1 },
    { ...dials, type: 'service.dial.terminator.connection_refused', terminatorId: '', count: 1 },
  ]);
});

test('a report of metrics is an event with every value, unless another controller has it', async () => {
  const reports: FabricEventTable['metrics'][] = [];
  events.listen('metrics', (report) => void reports.push(report));
  const message = {
    timestamp: { seconds: 5n, nanos: 250_000_000 },
    intValues: { n: 3n },
    meters: { bytes: { count: 4n, meanRate: 1.5 } },
    histograms: { 'link.l1.latency': { count: 1n, mean: 2 } },
    timers: { dial: { count: 2n, p99: 8, m1Rate: 0.5 } },
  };
  for (const doNotPropagate of [true, false])
    router.send(ctrlMessages.metrics.frame({ ...message, doNotPropagate }));
  await router.settle();
  const [report] = reports;
  assert.deepEqual([reports.length, report?.routerId, report?.atMs], [1, 'r1', 5_250]);
  assert.deepEqual(
    report?.metrics.map(({ name, type }) => [name, type]),
    [
      ['n', 'intValue'],
      ['bytes', 'meter'],
      ['link.l1.latency', 'histogram'],
      ['dial', 'timer'],
    ],
  );
  const [n, bytes, latency, dial] = report.metrics.map(({ values }) => values);
  assert.deepEqual([n!['value'], bytes!['mean_rate'], latency!['mean']], [3, 1.5, 2]);
  assert.deepEqual([dial!['p99'], dial!['m1_rate'], dial!['count']], [8, 0.5, 2]);
});
