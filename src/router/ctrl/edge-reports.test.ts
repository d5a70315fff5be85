// The reports that a router sends to controllers on its own: connected identities, sessions in use, network interfaces,
// its edge.
import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { contentType, headerId } from '#wire';
import { ctrlMessages, type CtrlBody } from '#wire/ctrl';
import type { ConnectEventsConfig, InterfaceDiscoveryConfig } from '../config/router-config.ts';
import {
  CONNECT_EVENTS_DEFAULTS,
  INTERFACE_DISCOVERY_DEFAULTS,
} from '../config/testing/router-config-defaults.ts';
import { ConnectEvents } from './connect-events.ts';
import { EdgeHello } from './edge-hello.ts';
import { InterfaceReporter } from './interface-reporter.ts';
import { readNetworkInterfaces, type NetworkInterface } from './network-interfaces.ts';
import { SessionHeartbeat } from './session-heartbeat.ts';
import { FakeControllers, receive, type FakeController } from './testing/fake-controllers.ts';

const SECOND = 1_000;

function mockTimers(t: TestContext): { clock: ManualClock; pass(ms: number): Promise<void> } {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  t.after(() => mock.timers.reset());
  const clock = new ManualClock();
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const pass = async (ms: number): Promise<void> => {
    await settle();
    clock.advance(ms);
    mock.timers.tick(ms);
    await settle();
  };
  return { clock, pass };
}

function openEvents(t: TestContext, more: Partial<ConnectEventsConfig> = {}) {
  const { clock, pass } = mockTimers(t);
  const controllers = new FakeControllers();
  const config = { ...CONNECT_EVENTS_DEFAULTS, ...more };
  const events = new ConnectEvents({ config, controllers, clock });
  t.after(() => events.close());
  const reported = (controller: FakeController): CtrlBody<'connectEvents'>[] =>
    controller.sentOf(contentType.connectEvents).map(({ body }) => ctrlMessages.connectEvents.decode(body));
  return { controllers, events, pass, reported };
}

const summary = ({ events, fullState }: CtrlBody<'connectEvents'>) => [
  fullState,
  ...events.map(({ identityId, isConnected, connectTimes }) => [
    identityId,
    isConnected,
    connectTimes.length,
  ]),
];

test('connects and disconnects are reported at once, further connections in batches of connectEvents.batchInterval', async (t) => {
  const { controllers, events, pass, reported } = openEvents(t, { batchIntervalMs: 2 * SECOND });
  const controller = controllers.connect('c1');
  await pass(2 * SECOND);
  const before = reported(controller).length;
  events.onOpened('i1', '10.0.0.1:5000', '10.0.0.9:3022');
  events.onOpened('i1', '10.0.0.1:5001', '10.0.0.9:3022');
  await pass(1);
  const first = reported(controller)[before]!;
  assert.deepEqual(summary(first), [false, ['i1', true, 2]]);
  assert.equal(first.events[0]!.connectTimes[0]!.srcAddr, '10.0.0.1:5000');
  events.onOpened('i1', '10.0.0.1:5002', '10.0.0.9:3022');
  await pass(SECOND);
  assert.equal(reported(controller).length, before + 1);
  await pass(SECOND);
  assert.deepEqual(summary(reported(controller)[before + 1]!), [false, ['i1', true, 1]]);
  for (let open = 3; open > 0; open -= 1) events.onClosed('i1');
  await pass(1);
  assert.deepEqual(summary(reported(controller)[before + 2]!), [false, ['i1', false, 0]]);
});

test('everything is reported again after connectEvents.fullSyncInterval, and to each controller that connects', async (t) => {
  const { controllers, events, pass, reported } = openEvents(t, { fullSyncIntervalMs: 60 * SECOND });
  const controller = controllers.connect('c1');
  events.onOpened('i1', 'a:1', 'b:2');
  await pass(3 * SECOND);
  const before = reported(controller).length;
  await pass(54 * SECOND);
  assert.equal(reported(controller).length, before);
  await pass(3 * SECOND);
  assert.deepEqual(summary(reported(controller).at(-1)!), [true, ['i1', true, 0]]);
  const late = controllers.connect('c2');
  assert.deepEqual(reported(late).map(summary), [[true, ['i1', true, 0]]]);
});

test('with connectEvents.enabled false only the connected identities are reported, and no connection', async (t) => {
  const { controllers, events, pass, reported } = openEvents(t, { isEnabled: false });
  const controller = controllers.connect('c1');
  await pass(3 * SECOND);
  events.onOpened('i1', 'a:1', 'b:2');
  await pass(3 * SECOND);
  assert.deepEqual(summary(reported(controller).at(-1)!), [false, ['i1', true, 0]]);
});

test('at most connectEvents.maxQueuedEvents connections wait while no controller is there; states are not lost', async (t) => {
  const { controllers, events, pass, reported } = openEvents(t, { maxQueuedEvents: 2 });
  for (const id of ['i1', 'i2', 'i3']) events.onOpened(id, 'a:1', 'b:2');
  await pass(60 * SECOND);
  const controller = controllers.connect('c1');
  await pass(3 * SECOND);
  assert.deepEqual(summary(reported(controller).at(-1)!), [
    true,
    ['i1', true, 1],
    ['i2', true, 1],
    ['i3', true, 0],
  ]);
});

test('sessions that hold channels are reported every edge.heartbeatIntervalSeconds, in batches', async (t) => {
  const { pass } = mockTimers(t);
  const controllers = new FakeControllers();
  const controller = controllers.connect('c1');
  let tokens: string[] = [];
  const heartbeat = new SessionHeartbeat({ intervalMs: 20 * SECOND, controllers, tokens: () => tokens });
  t.after(() => heartbeat.close());
  await pass(20 * SECOND);
  assert.equal(controller.sent.length, 0);
  tokens = [...Array.from({ length: 1_500 }, (_, at) => `t${at}`), 't1'];
  await pass(20 * SECOND - 1);
  assert.equal(controller.sent.length, 0);
  await pass(1);
  const reported = controller
    .sentOf(contentType.apiSessionHeartbeat)
    .map(({ body }) => ctrlMessages.apiSessionHeartbeat.decode(body).tokens);
  assert.deepEqual(
    [reported.map(({ length }) => length), new Set(reported.flat()).size],
    [[1_000, 500], 1_500],
  );
});

function openReporter(t: TestContext, more: Partial<InterfaceDiscoveryConfig> = {}) {
  const { clock, pass } = mockTimers(t);
  const controllers = new FakeControllers();
  const config = { ...INTERFACE_DISCOVERY_DEFAULTS, ...more };
  const surroundings = { interfaces: [networkInterface('eth0', '10.0.0.1/24')] };
  const reporter = new InterfaceReporter({
    config,
    controllers,
    requestTimeoutMs: 5 * SECOND,
    clock,
    log: silentLog,
    read: () => surroundings.interfaces,
  });
  t.after(() => reporter.close());
  const reports = (controller: FakeController): string[][] =>
    controller
      .sentOf(contentType.updateRouterInterfaces)
      .map(({ body }) =>
        ctrlMessages.updateRouterInterfaces.decode(body).interfaces.flatMap((it) => it.addresses),
      );
  return { controllers, pass, surroundings, reports };
}

function networkInterface(name: string, address: string): NetworkInterface {
  return { name, hardwareAddress: '', mtu: 1_500n, index: 2n, flags: 19n, addresses: [address] };
}

test('interfaces are reported at once, then when they changed at an interfaceDiscovery.checkInterval', async (t) => {
  const { controllers, pass, surroundings, reports } = openReporter(t, { checkIntervalMs: 10 * SECOND });
  const controller = controllers.connect('c1');
  assert.deepEqual(reports(controller), [['10.0.0.1/24']]);
  controller.answerResult(true);
  await pass(10 * SECOND);
  assert.equal(reports(controller).length, 1);
  surroundings.interfaces = [networkInterface('eth0', '10.0.0.2/24')];
  await pass(9 * SECOND);
  assert.equal(reports(controller).length, 1);
  await pass(SECOND);
  assert.deepEqual(reports(controller).at(-1), ['10.0.0.2/24']);
  controller.answerResult(true);
});

test('interfaces that a controller did not accept are reported again at the next check', async (t) => {
  const { controllers, pass, reports } = openReporter(t);
  const controller = controllers.connect('c1');
  controller.answerResult(false);
  await pass(60 * SECOND);
  assert.equal(reports(controller).length, 2);
  controller.answerResult(true);
  await pass(60 * SECOND);
  assert.equal(reports(controller).length, 2);
});

test('unchanged interfaces are reported again after interfaceDiscovery.minReportInterval', async (t) => {
  const { controllers, pass, reports } = openReporter(t, { minReportIntervalMs: 180 * SECOND });
  const controller = controllers.connect('c1');
  controller.answerResult(true);
  await pass(120 * SECOND);
  assert.equal(reports(controller).length, 1);
  await pass(60 * SECOND);
  assert.equal(reports(controller).length, 2);
  controller.answerResult(true);
});

test('with interfaceDiscovery.disabled no interface is reported', async (t) => {
  const { controllers, pass, reports } = openReporter(t, { isDisabled: true });
  const controller = controllers.connect('c1');
  await pass(120 * SECOND);
  assert.deepEqual(reports(controller), []);
});

test('the interfaces of this machine are read with addresses and Go’s flags', () => {
  const loopback = readNetworkInterfaces().find(({ addresses }) => addresses.includes('127.0.0.1/8'));
  assert.ok(loopback !== undefined);
  assert.equal(loopback.flags & 5n, 5n);
});

test('a controller that asks gets the addresses for SDKs, and the index of the data model', () => {
  const controllers = new FakeControllers();
  const controller = controllers.connect('c1');
  const reported: unknown[] = [];
  const hello = new EdgeHello({
    advertised: () => [
      { protocol: 'tls', host: 'edge.example', port: 443, bind: { host: '0.0.0.0', port: 3022 } },
    ],
    dataModelIndex: () => 7n,
    onData: (data) => reported.push(data),
  });
  const data = { instant: 'true' };
  receive(hello.handlers(), ctrlMessages.serverHello.frame({ version: 'v1.7.2', data }), controller);
  assert.deepEqual(reported, [data]);
  const [frame] = controller.sentOf(contentType.clientHello);
  const { hostname, protocols, protocolPorts, listeners } = ctrlMessages.clientHello.decode(frame!.body);
  assert.deepEqual([hostname, protocols, protocolPorts], ['edge.example', ['tls'], ['443']]);
  assert.deepEqual(
    [listeners[0]!.address?.value, listeners[0]!.advertise?.value, listeners[0]!.advertise?.port],
    ['tls:0.0.0.0:3022', 'edge.example:443', 443],
  );
  const { headers } = frame!;
  assert.equal(headers.bool(headerId.edgeCtrl.routerDataModel), true);
  assert.equal(headers.u64(headerId.edgeCtrl.routerDataModelIndex), 7n);
});

test('without an edge listener and data model the answer has neither', () => {
  const controller = new FakeControllers().connect('c1');
  const hello = new EdgeHello({
    advertised: () => [],
    dataModelIndex: () => undefined,
    onData: () => {},
  });
  receive(hello.handlers(), ctrlMessages.serverHello.frame({}), controller);
  const [frame] = controller.sentOf(contentType.clientHello);
  const { hostname, listeners } = ctrlMessages.clientHello.decode(frame!.body);
  assert.deepEqual(
    [hostname, listeners, frame!.headers.bool(headerId.edgeCtrl.routerDataModel)],
    ['', [], false],
  );
});

test('identity-connection-statuses has the open channels, and what waits for a controller', async (t) => {
  const { controllers, events, pass } = openEvents(t);
  const channel = { id: 'ch1', srcAddr: 'a:1', dstAddr: 'b:2' };
  const inspect = () =>
    events.inspect([{ identityId: 'i1', ...channel }]) as {
      identity_connections: Record<string, object>;
      last_full_sync: string;
      queued_event_count: number;
    };
  const status = (count: number) => ({
    unreported_count: count,
    unreported_state_changed: count > 0,
    being_reported_count: 0,
    being_reported_state_changed: false,
    connections: [{ ...channel, closed: false }],
  });
  events.onOpened('i1', 'a:1', 'b:2');
  const waiting = inspect();
  assert.deepEqual(waiting.identity_connections, { i1: status(1) });
  assert.equal(waiting.queued_event_count, 1);
  assert.equal(waiting.last_full_sync, '0001-01-01T00:00:00Z');
  controllers.connect('c1');
  await pass(3 * SECOND);
  const reported = inspect();
  assert.deepEqual(reported.identity_connections, { i1: status(0) });
  assert.equal(reported.queued_event_count, 0);
  assert.notEqual(reported.last_full_sync, '0001-01-01T00:00:00Z');
});
