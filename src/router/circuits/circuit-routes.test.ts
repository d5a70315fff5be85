// Route and Unroute: their answers, the resulting circuits, and the limit of concurrent dials.
import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { FrontdoorError, silentLog, textOf, type Log, type LogFields } from '#base';
import { contentType } from '#wire';
import { RouteErrorCode } from '#wire/circuits';
import { ctrlMessages, DestType, type CtrlInit } from '#wire/ctrl';
import type { ForwarderConfig } from '../config/router-config.ts';
import { FORWARDER_DEFAULTS, XGRESS_CONFIG_DEFAULTS } from '../config/testing/router-config-defaults.ts';
import { HostRefusal } from '../forwarder/dial-refusal.ts';
import { NO_METRICS } from '../metrics/metrics.ts';
import { MemoryControllers, type MemoryController } from '../testing/memory-controller.ts';
import { EgressDialers, type EgressDial, type EgressDialer } from '../xgress/egress-dialers.ts';
import { CircuitFaults } from '../forwarder/circuit-faults.ts';
import { CircuitRoutes } from './circuit-routes.ts';
import type { CircuitEnd, LinkDestination } from '../forwarder/destination.ts';
import { Forwarder } from '../forwarder/forwarder.ts';
import { until } from '../../../test/support/deadline.ts';

type RouteChange = { [Key in keyof Omit<CtrlInit<'route'>, '$typeName'>]?: unknown };

interface World {
  readonly forwarder: Forwarder;
  readonly routes: CircuitRoutes;
  readonly controller: MemoryController;
  readonly dials: EgressDial[];
  readonly ends: FakeEnd[];
  readonly logged: [message: string, fields: LogFields][];
  /** The behaviour of the dialer of binding `fake`; initially it registers an end. */
  dialer: EgressDialer;
  route(init?: RouteChange): ReturnType<MemoryController['route']>;
}

class FakeEnd implements CircuitEnd {
  readonly kind = 'xgress';
  readonly isWritable = true;
  isUnrouted = false;

  deliver(): void {}
  onWritable(): void {}
  onControl(): void {}
  inspect(): object {
    return {};
  }
  unrouted(): void {
    this.isUnrouted = true;
  }
}

function makeWorld(
  t: TestContext,
  config: Partial<ForwarderConfig> = {},
  listed: readonly string[] = [],
): World {
  const controllers = new MemoryControllers();
  const logged: [string, LogFields][] = [];
  const note = (fields: LogFields, message: string): void => void logged.push([message, fields]);
  const log: Log = { ...silentLog, info: note, warn: note, error: note };
  const faults = new CircuitFaults({ controllers, faultTxIntervalMs: 0, metrics: NO_METRICS, log });
  const forwarder = new Forwarder({
    routerId: 'r1',
    faults,
    closeCheckIntervalMs: 5_000,
    metrics: NO_METRICS,
  });
  const dialers = new EgressDialers(
    listed.map((binding, at) => ({ path: `dialers[${at}]`, binding, xgress: XGRESS_CONFIG_DEFAULTS })),
  );
  const full = { ...FORWARDER_DEFAULTS, ...config };
  const routes = new CircuitRoutes({ forwarder, dialers, config: full, log });
  const controller = controllers.connect('ctrl');
  t.after(() => {
    routes.close();
    forwarder.close();
  });
  const world: World = {
    forwarder,
    routes,
    controller,
    dials: [],
    ends: [],
    logged,
    dialer: (dial) => {
      const end = new FakeEnd();
      world.ends.push(end);
      forwarder.register(dial.circuitId, dial.address, end, dial.controllerId);
      return Promise.resolve(new Map([[1110, Buffer.from('here')]]));
    },
    route: (init = {}) => controller.route(routes.handlers(), { ...EGRESS, ...init } as CtrlInit<'route'>),
  };
  dialers.add('fake', (dial) => {
    world.dials.push(dial);
    return world.dialer(dial);
  });
  return world;
}

const EGRESS: CtrlInit<'route'> = {
  circuitId: 'c1',
  attempt: 1,
  timeout: 10_000_000_000n,
  egress: {
    binding: 'fake',
    address: 'out',
    destination: 'dest',
    peerData: [{ key: 1008, value: Buffer.from('me') }],
  },
  forwards: [
    { srcAddress: 'in', dstAddress: 'out', dstType: DestType.END },
    { srcAddress: 'out', dstAddress: 'in', dstType: DestType.START },
  ],
};

function fakeLink(id: string): LinkDestination {
  return { id, isWritable: true, deliver: () => {}, sendControl: () => {} };
}

test('a Route with an egress dials it and answers with the data of the dial', async (t) => {
  const world = makeWorld(t);
  const result = await world.route();
  assert.deepEqual(
    [result.isSuccess, result.attempt, result.circuitId, textOf(result.peerData.get(1110)!)],
    [true, 1, 'c1', 'here'],
  );
  const [dial] = world.dials;
  assert.deepEqual(
    [dial!.destination, dial!.address, dial!.controllerId, textOf(dial!.peerData.get(1008)!)],
    ['dest', 'out', 'ctrl', 'me'],
  );
  assert.equal(world.forwarder.circuit('c1')?.controllerId, 'ctrl');
});

test('a Route again to an end that stands dials nothing and answers the same; so do two at once', async (t) => {
  const world = makeWorld(t);
  const gate = Promise.withResolvers<void>();
  const dialer = world.dialer;
  world.dialer = async (dial) => {
    await gate.promise;
    return dialer(dial);
  };
  const both = [world.route({ attempt: 0 }), world.route({ attempt: 1 })];
  await until(
    'the dial',
    () => world.dials.length,
    (dials) => dials === 1,
  );
  gate.resolve();
  const third = world.route({ attempt: 2 });
  for (const result of await Promise.all([...both, third]))
    assert.equal(textOf(result.peerData.get(1110)!), 'here', `attempt ${result.attempt}`);
  assert.equal(world.dials.length, 1);
});

test('a Route to a missing link fails with code 8 and reports the link to every controller', async (t) => {
  const world = makeWorld(t);
  const forwards = [{ srcAddress: 'in', dstAddress: 'link1', dstType: DestType.LINK }];
  const { isSuccess, errorCode } = await world.route({ egress: undefined, forwards });
  assert.deepEqual([isSuccess, errorCode], [false, RouteErrorCode.invalidLinkDestination]);
  const fault = await world.controller.next('fault');
  assert.deepEqual([fault.subject, fault.id, fault.iteration], [2, 'link1', 0]);
  assert.equal(world.forwarder.circuitCount, 0);
});

test('a Route to an end that is not there fails; one to the initiator’s end, which comes later, does not', async (t) => {
  const world = makeWorld(t);
  const end = [{ srcAddress: 'in', dstAddress: 'nobody', dstType: DestType.END }];
  assert.equal((await world.route({ egress: undefined, forwards: end })).isSuccess, false);
  const start = [{ srcAddress: 'link1', dstAddress: 'later', dstType: DestType.START }];
  assert.equal((await world.route({ egress: undefined, forwards: start })).isSuccess, true);
});

test('a Route for a circuit that stands changes what it names and keeps the rest', async (t) => {
  const world = makeWorld(t);
  for (const id of ['l1', 'l2']) world.forwarder.registerLink(fakeLink(id));
  const forwards = (link: string): object[] => [
    { srcAddress: 'in', dstAddress: link, dstType: DestType.LINK },
    { srcAddress: link, dstAddress: 'in', dstType: DestType.START },
  ];
  await world.route({ egress: undefined, forwards: forwards('l1') });
  await world.route({ egress: undefined, attempt: 99_969_996, forwards: forwards('l2') });
  assert.deepEqual(Object.fromEntries(world.forwarder.circuit('c1')!.next), { in: 'l2', l1: 'in', l2: 'in' });
  const tags = { serviceId: 's1', clientId: 'i1' };
  await world.route({ egress: undefined, forwards: [], tags });
  await world.route({ egress: undefined, forwards: [] });
  assert.deepEqual({ ...world.forwarder.circuit('c1')!.tags }, tags);
});

test('circuits with equal tags have one object of them', async (t) => {
  const world = makeWorld(t);
  for (const [circuitId, serviceId] of [
    ['c1', 's1'],
    ['c2', 's1'],
    ['c3', 's2'],
  ])
    await world.route({
      circuitId: circuitId!,
      egress: undefined,
      forwards: [],
      tags: { serviceId: serviceId! },
    });
  const [first, second, third] = ['c1', 'c2', 'c3'].map((id) => world.forwarder.circuit(id)!.tags);
  assert.equal(first, second);
  assert.deepEqual({ ...third }, { serviceId: 's2' });
});

test('failures bear the code of their cause', async (t) => {
  const world = makeWorld(t);
  const causes: [Error, number][] = [
    [new FrontdoorError('notFound', 'unknown-terminator', ''), RouteErrorCode.invalidTerminator],
    [new FrontdoorError('timeout', 'dial-timeout', ''), RouteErrorCode.dialTimeout],
    [new FrontdoorError('badGateway', 'connection-refused', ''), RouteErrorCode.connectionRefused],
    [new HostRefusal('no', RouteErrorCode.rejectedByApplication), RouteErrorCode.rejectedByApplication],
    [new FrontdoorError('badGateway', 'name-not-found', ''), RouteErrorCode.dnsFailed],
    [new FrontdoorError('limited', 'too-many-circuits', ''), RouteErrorCode.resourcesNotAvailable],
    [new Error('whatever'), RouteErrorCode.generic],
  ];
  for (const [cause, code] of causes) {
    world.dialer = () => Promise.reject(cause);
    assert.equal((await world.route()).errorCode, code, String(cause));
  }
  assert.equal(world.forwarder.circuitCount, 0);
});

test('bindings that the configuration does not list, or that cannot dial, are misconfigured terminators', async (t) => {
  const world = makeWorld(t, {}, ['proxy']);
  const failure = async (binding: string): Promise<[number, string]> => {
    const { errorCode, error } = await world.route({ egress: { ...EGRESS.egress, binding } });
    return [errorCode, error];
  };
  const [code, text] = await failure('transport');
  assert.equal(code, RouteErrorCode.misconfiguredTerminator);
  assert.match(text, /dialers/);
  const [proxyCode, proxyText] = await failure('proxy');
  assert.equal(proxyCode, RouteErrorCode.misconfiguredTerminator);
  assert.match(proxyText, /dialers\[0\]\.binding/);
  assert.equal((await failure('whatever'))[0], RouteErrorCode.misconfiguredTerminator);
});

test('xgressDialWorkerCount dials run at once, xgressDialQueueLength wait, and a Route beyond is dropped', async (t) => {
  const world = makeWorld(t, { xgressDialWorkerCount: 2, xgressDialQueueLength: 1 });
  const gate = Promise.withResolvers<ReadonlyMap<number, Uint8Array>>();
  world.dialer = () => gate.promise;
  const say = (id: number): void => {
    const route = { ...EGRESS, circuitId: `c${id}`, egress: { ...EGRESS.egress, address: `out${id}` } };
    world.controller.say(world.routes.handlers(), ctrlMessages.route.frame({ ...route, forwards: [] }));
  };
  for (const id of [1, 2, 3, 4]) say(id);
  await until(
    'two dials',
    () => world.dials.length,
    (dials) => dials === 2,
  );
  assert.equal(world.routes.pool.queueSize, 1);
  assert.match(world.logged.map(([message]) => message).join(), /xgressDialQueueLength/);
  gate.resolve(new Map());
  const isAnswer = ({ contentType: type }: { contentType: number }): boolean =>
    type === contentType.routeResult;
  await until(
    'three answers',
    () => world.controller.frames.filter(isAnswer).length,
    (count) => count === 3,
  );
  assert.deepEqual(
    world.dials.map(({ circuitId }) => circuitId),
    ['c1', 'c2', 'c3'],
  );
});

test('xgressDialDwellTime passes before each dial', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.after(() => mock.timers.reset());
  const world = makeWorld(t, { xgressDialDwellMs: 700 });
  world.controller.say(world.routes.handlers(), ctrlMessages.route.frame(EGRESS));
  await settled();
  assert.match(world.logged.map(([message]) => message).join(), /xgressDialDwellTime/);
  mock.timers.tick(699);
  await settled();
  assert.equal(world.dials.length, 0);
  mock.timers.tick(1);
  await settled();
  assert.equal(world.dials.length, 1);
});

test('the time that a Route gives counts from when it came', async (t) => {
  const world = makeWorld(t);
  const before = performance.now();
  await world.route({ timeout: 3_000_000_000n });
  const { deadlineMs } = world.dials[0]!;
  assert.ok(deadlineMs >= before + 3_000 && deadlineMs <= performance.now() + 3_000, String(deadlineMs));
  const late = makeWorld(t, { xgressDialDwellMs: 20 });
  const { isSuccess, errorCode } = await late.route({ timeout: 1_000_000n });
  assert.deepEqual([isSuccess, errorCode, late.dials.length], [false, RouteErrorCode.dialTimeout, 0]);
});

test('a circuit that is taken away while it is dialed leaves nothing behind', async (t) => {
  const world = makeWorld(t);
  const gate = Promise.withResolvers<void>();
  const dialer = world.dialer;
  world.dialer = async (dial) => {
    await gate.promise;
    return dialer(dial);
  };
  const result = world.route();
  await until(
    'the dial',
    () => world.dials.length,
    (dials) => dials === 1,
  );
  world.controller.unroute(world.routes.handlers(), 'c1', true);
  assert.equal(world.dials[0]!.signal.aborted, true);
  gate.resolve();
  assert.equal((await result).isSuccess, false);
  assert.equal(world.forwarder.circuitCount, 0);
  assert.equal(world.ends[0]!.isUnrouted, true);
});

test('an end whose forwards cannot be set is closed again', async (t) => {
  const world = makeWorld(t);
  const forwards = [{ srcAddress: 'out', dstAddress: 'gone', dstType: DestType.LINK }];
  assert.equal((await world.route({ forwards })).isSuccess, false);
  assert.equal(world.ends[0]!.isUnrouted, true);
  assert.equal(world.forwarder.circuitCount, 0);
});

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}
