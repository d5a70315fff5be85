// Links between routers over real TLS: which router dials, over which connections, and the reports to controllers.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { contentType, makeFrame } from '#wire';
import { PayloadFrame, AcknowledgementFrame } from '#wire/xgress';
import { FaultSubject, PeerState } from '#wire/ctrl';
import { until } from '../../../test/support/deadline.ts';
import {
  linkDialerFixture,
  linkListenerFixture,
  LinkMesh,
  type LinkingRouter,
  type MeshRouterOptions,
  type AnnouncedPeer,
} from './testing/link-mesh.ts';
import { TcpRelay } from './testing/tcp-relay.ts';

/** Neither router dials on its own. */
const ACCEPTS: MeshRouterOptions = { link: { dialers: [] } };
const DIALS: MeshRouterOptions = { link: { listeners: [] } };
const SOON = { minMs: 10, maxMs: 20, factor: 1 };

interface InspectedLinks {
  readonly links: readonly ({ readonly connections: readonly object[] } & Record<string, unknown>)[];
  readonly destinations: readonly ({ readonly linkStates: readonly Record<string, unknown>[] } & Record<
    string,
    unknown
  >)[];
}

let mesh: LinkMesh;
let names = 0;

before(async () => {
  mesh = await LinkMesh.make();
});
after(() => mesh.close());

const add = (options?: MeshRouterOptions): Promise<LinkingRouter> => mesh.add(`r${(names += 1)}`, options);

/** One router that dials, and one that listens. */
async function addPair(options: MeshRouterOptions = DIALS): Promise<[LinkingRouter, LinkingRouter]> {
  return [await add(options), await add(ACCEPTS)];
}

function typesOf(router: LinkingRouter): string[] {
  return router
    .link()
    .connections()
    .map(({ type }) => type)
    .sort();
}

const reportsOf = (linkId: string) =>
  mesh.controller.bodies('routerLinks').flatMap(({ links }) => links.filter(({ id }) => id === linkId));
const faultsOf = (linkId: string) => mesh.controller.bodies('fault').filter(({ id }) => id === linkId);

describe('a link comes to be', () => {
  test('when a controller announces a peer: both ends have it, and its dialer reports it', async () => {
    const [dialer, listener] = await addPair();
    dialer.meet(listener);
    const view = await dialer.linked(4);
    await listener.linked(4);
    assert.equal(view.destRouterId, listener.id);
    assert.equal(listener.link(view.linkId).peerId, dialer.id);
    await until(
      'the report',
      () => reportsOf(view.linkId).length,
      (count) => count > 0,
    );
    const [report] = reportsOf(view.linkId);
    assert.deepEqual(
      [report!.destRouterId, report!.linkProtocol, report!.iteration],
      [listener.id, 'tls', 1],
    );
    assert.equal(report!.dialAddress, listener.links.advertised()[0]!.address);
    assert.equal(reportsOf(view.linkId).length, 1, 'the accepting side reports nothing');
    const verified = mesh.controller.verified.filter(({ routerId }) => routerId === dialer.id);
    assert.deepEqual(
      verified.map(({ fingerprints }) => fingerprints),
      [[dialer.fingerprint]],
    );
  });

  test('one between two routers that dial each other: the same at both', async () => {
    for (let round = 0; round < 4; round += 1) {
      const [left, right] = [await add(), await add()];
      left.meet(right);
      right.meet(left);
      const linkIdOf = (router: LinkingRouter): string | undefined => router.links.links()[0]?.linkId;
      await until(
        'both ends to agree, with all connections',
        () => [left, right].map((router) => router.links.links().map(({ linkId }) => linkId)),
        ([ours, theirs]) => ours!.length === 1 && ours![0] === theirs![0],
      );
      await until(
        'the reports',
        () => reportsOf(linkIdOf(left)!).length,
        (count) => count > 0,
      );
      // The duplicate dial may still be in progress.
      await until(
        'both to count it as established',
        () => [left.statuses(), right.statuses(), linkIdOf(left) === linkIdOf(right)].join(),
        (all) => all === 'established,established,true',
      );
    }
  });

  test('between each two of three routers', async () => {
    const routers = [await add(), await add(), await add()];
    for (const one of routers) for (const other of routers) if (one !== other) one.meet(other);
    await until(
      'two links each',
      () => routers.map(({ links }) => new Set(links.links().map(({ destRouterId }) => destRouterId)).size),
      (counts) => counts.every((count) => count === 2),
    );
  });

  test('only where groups meet', async () => {
    const blue = await add({ link: { listeners: [], dialers: [linkDialerFixture({ groups: ['blue'] })] } });
    const red = await add({ link: { listeners: [linkListenerFixture({ groups: ['red'] })], dialers: [] } });
    const both = await add({
      link: { listeners: [linkListenerFixture({ groups: ['red', 'blue'] })], dialers: [] },
    });
    blue.meet(red);
    blue.meet(both);
    const view = await blue.linked(4);
    assert.equal(view.destRouterId, both.id);
    assert.deepEqual(red.links.links(), []);
  });

  test('from the interface that the dialer names', async () => {
    const bind = { name: 'lo', address: '127.0.0.2' };
    const [dialer, listener] = await addPair({
      link: { listeners: [], dialers: [linkDialerFixture({ bind })] },
    });
    dialer.meet(listener);
    await listener.linked(4);
    for (const { remoteAddress } of listener.link().connections())
      assert.match(remoteAddress, /^tcp:127\.0\.0\.2:/);
    assert.equal(dialer.link().key, `lo->tls:${listener.id}->default`);
    assert.equal(listener.link().key, `lo->tls:${dialer.id}->default`);
  });

  test('under the name of the lone listener’s interface when the lone dialer has none', async () => {
    const listeners = [linkListenerFixture({ localBinding: 'eth7' })];
    const dialer = await add({ link: { listeners } });
    const listener = await add({ link: { listeners, dialers: [] } });
    dialer.meet(listener);
    for (const router of [dialer, listener]) await router.linked();
    assert.equal(dialer.link().key, `eth7->tls:${listener.id}->eth7`);
    assert.equal(listener.link().key, `eth7->tls:${dialer.id}->eth7`);
  });

  test('at once with a peer that comes back, independently of the unhealthy policy', async () => {
    const never = { minMs: 86_400_000, maxMs: 86_400_000, factor: 1 };
    const dialers = [linkDialerFixture({ unhealthyBackoff: never })];
    const [dialer, listener] = await addPair({ link: { listeners: [], dialers } });
    const gone = await add(ACCEPTS);
    const advertised = gone.links.advertised();
    await gone.close();
    dialer.meet(listener, { listeners: advertised });
    dialer.lose(listener, PeerState.UNHEALTHY);
    await until(
      'the dial to fail',
      () => dialer.statuses(),
      ([status]) => status === 'dialFailed',
    );
    dialer.meet(listener);
    await dialer.linked(4);
  });
});

describe('the connections of a link', () => {
  for (const [maxDefaultConnections, maxAckConnections] of [
    [1, 0],
    [2, 1],
    [4, 2],
  ] as const) {
    test(`are ${maxDefaultConnections} for payloads and ${maxAckConnections} for acknowledgements as configured`, async () => {
      const dialers = [linkDialerFixture({ maxDefaultConnections, maxAckConnections })];
      const [dialer, listener] = await addPair({ link: { listeners: [], dialers } });
      dialer.meet(listener);
      const wanted = [
        ...Array.from({ length: maxAckConnections }, () => 'link.ack'),
        ...Array.from({ length: maxDefaultConnections }, () => 'link.default'),
      ];
      for (const router of [dialer, listener]) {
        await router.linked(wanted.length);
        assert.deepEqual(typesOf(router), wanted);
      }
    });
  }

  test('after the first follow when the startup delay is over, each reported to controllers', async () => {
    const dialers = [linkDialerFixture({ startupDelayMs: 400 })];
    const [dialer, listener] = await addPair({ link: { listeners: [], dialers } });
    const fromMs = performance.now();
    dialer.meet(listener);
    const { linkId } = await dialer.linked(1);
    await dialer.linked(4);
    assert.ok(performance.now() - fromMs >= 390, 'they came too early');
    const states = () => mesh.controller.bodies('linkState').filter((state) => state.linkId === linkId);
    await until(
      'the states',
      () => states().length,
      (count) => count >= 1,
    );
    const { value } = await until(
      'the whole list',
      () => states().at(-1)!,
      ({ connState }) => connState!.conns.length === 4,
    );
    assert.equal(value.linkIteration, 1);
    const iterations = states().map(({ connState }) => connState!.stateIteration);
    assert.deepEqual(
      iterations,
      [...iterations].sort((a, b) => a - b),
    );
    assert.equal(reportsOf(linkId)[0]!.connState!.stateIteration, 1);
    assert.ok(value.connState!.conns.every(({ localAddr }) => /^tcp:127\.0\.0\.1:\d+$/.test(localAddr)));
  });

  test('are one for both with split false, towards a current router too', async () => {
    const dialers = [linkDialerFixture({ split: false, startupDelayMs: 0 })];
    const [dialer, listener] = await addPair({ link: { listeners: [], dialers } });
    dialer.meet(listener);
    for (const router of [dialer, listener]) await router.linked(1);
    exchange(dialer);
    await until(
      'the frames',
      () => listener.forwarding.frames.length,
      (count) => count === 2,
    );
    for (const router of [dialer, listener]) assert.deepEqual(typesOf(router), ['link.default']);
  });

  for (const [split, types] of [
    [true, ['ack', 'payload']],
    [false, ['single']],
  ] as const) {
    test(`towards an old router are ${types.join(' and ')} with split ${split}`, async () => {
      const dialers = [linkDialerFixture({ split })];
      const [dialer, listener] = await addPair({ link: { listeners: [], dialers } });
      dialer.meet(listener, { version: 'v1.5.4' });
      for (const router of [dialer, listener]) {
        await router.linked(types.length);
        assert.deepEqual(typesOf(router), types);
      }
      exchange(dialer);
      await until(
        'the frames',
        () => listener.forwarding.frames.length,
        (count) => count === 2,
      );
    });
  }

  test('may break: the link carries on, and its dialer replaces them', async () => {
    const [dialer, listener] = await addPair();
    const relay = await TcpRelay.open(listener.port);
    dialer.meet(listener, { listeners: relayed(listener, relay) });
    const { linkId } = await dialer.linked(4);
    await listener.linked(4);
    const before = dialer.link(linkId).stateIteration;
    relay.cut(0);
    await until(
      'the state to change',
      () => dialer.link(linkId).stateIteration,
      (now) => now >= before + 2,
    );
    await dialer.linked(4);
    exchange(dialer);
    await until(
      'the frames',
      () => listener.forwarding.frames.length,
      (count) => count === 2,
    );
    assert.deepEqual(faultsOf(linkId), [], 'the link never ended');
    await relay.close();
  });

  test('all broken end the link: both ends report the fault, and it is dialed again as the next iteration', async () => {
    const dialers = [linkDialerFixture({ healthyBackoff: SOON })];
    const [dialer, listener] = await addPair({ link: { listeners: [], dialers } });
    const relay = await TcpRelay.open(listener.port);
    dialer.meet(listener, { listeners: relayed(listener, relay) });
    const { linkId } = await dialer.linked(4);
    await listener.linked(4);
    for (let left = relay.count; left > 0; left -= 1) relay.cut(0);
    await until(
      'a new link',
      () => reportsOf(linkId).map(({ iteration }) => iteration),
      (iterations) => Math.max(...iterations) >= 2,
    );
    await listener.linked(4);
    assert.equal(listener.link().id, linkId);
    for (const { subject, iteration } of faultsOf(linkId)) {
      assert.equal(subject, FaultSubject.LINK_FAULT);
      assert.ok(iteration >= 1);
    }
    await relay.close();
  });
});

describe('over a link', () => {
  test('go payloads, acknowledgements and traces, both ways, with the link as their source', async () => {
    const [dialer, listener] = await addPair();
    dialer.meet(listener);
    const { linkId } = await dialer.linked(4);
    await listener.linked(4);
    for (const [from, to] of [
      [dialer, listener],
      [listener, dialer],
    ] as const) {
      exchange(from);
      from.link(linkId).sendControl(makeFrame(contentType.control, { body: Uint8Array.of(1, 65) }));
      await until(
        'the frames',
        () => to.forwarding.frames.length,
        (count) => count === 2,
      );
      await until(
        'the trace',
        () => to.forwarding.controls.length,
        (count) => count === 1,
      );
      const payload = to.forwarding.frames
        .map(({ frame }) => frame)
        .find((frame) => frame instanceof PayloadFrame)!;
      assert.deepEqual(
        [payload.circuitId, payload.sequence, Buffer.from(payload.data).toString()],
        ['c1', 7, 'data'],
      );
      const ack = to.forwarding.frames
        .map(({ frame }) => frame)
        .find((frame) => frame instanceof AcknowledgementFrame)!;
      assert.deepEqual([...ack.sequences], [1, 2, 3]);
      assert.ok(to.forwarding.frames.every(({ source }) => source === linkId));
      assert.equal(to.forwarding.controls[0]!.source, linkId);
    }
  });

  test('other frames are ignored', async () => {
    const [dialer, listener] = await addPair();
    dialer.meet(listener);
    const { linkId } = await dialer.linked(4);
    for (const type of [9_999, contentType.route, contentType.ping]) {
      dialer.link(linkId).sendControl(makeFrame(type, { body: 'x' }));
    }
    exchange(dialer);
    await until(
      'the frames',
      () => listener.forwarding.frames.length,
      (count) => count === 2,
    );
    assert.deepEqual(listener.forwarding.controls, []);
  });
});

describe('a controller’s message about links', () => {
  test('closes one that it holds broken, unless it means an earlier dial', async () => {
    const dialers = [linkDialerFixture({ healthyBackoff: SOON })];
    const [dialer, listener] = await addPair({ link: { listeners: [], dialers } });
    dialer.meet(listener);
    const { linkId } = await dialer.linked(4);
    dialer.fault(linkId, 1);
    await until(
      'the second dial',
      () => dialer.links.links().length && dialer.link().iteration,
      (it) => it === 2,
    );
    dialer.fault(linkId, 1);
    exchange(dialer);
    assert.equal(dialer.link(linkId).isClosed, false);
    assert.equal(dialer.link(linkId).iteration, 2);
  });

  test('that a router is removed ends its links at once', async () => {
    const [dialer, listener] = await addPair();
    dialer.meet(listener);
    await dialer.linked();
    await listener.linked();
    dialer.lose(listener, PeerState.REMOVED);
    assert.deepEqual(dialer.links.links(), []);
    await until(
      'the other end to go',
      () => listener.links.linkCount,
      (count) => count === 0,
    );
    assert.equal(dialer.forwarding.links.size, 0, 'the forwarder knows it no longer');
  });

  test('is answered by what there is: `links` as OpenZiti’s tools read it', async () => {
    const [dialer, listener] = await addPair();
    dialer.meet(listener);
    const { linkId } = await dialer.linked(4);
    assert.equal(dialer.links.inspect('circuits'), undefined);
    await until(
      'the report',
      () => reportsOf(linkId).length,
      (count) => count > 0,
    );
    const inspected = JSON.parse(JSON.stringify(dialer.links.inspect('links'))) as InspectedLinks;
    const link = inspected.links[0]!;
    assert.deepEqual(
      { ...link, connections: link.connections.length },
      {
        id: linkId,
        iteration: 1,
        key: `default->tls:${listener.id}->default`,
        split: false,
        protocol: 'tls',
        dialAddress: listener.links.advertised()[0]!.address,
        dest: listener.id,
        destVersion: 'v1.7.2',
        dialed: true,
        underlays: { 'link.default': 3, 'link.ack': 1 },
        connections: 4,
        connStateIteration: 4,
      },
    );
    assert.deepEqual(Object.keys(link.connections[0]!), ['Type', 'Source', 'Dest']);
    const { linkStates, ...destination } = inspected.destinations[0]!;
    assert.deepEqual(destination, { id: listener.id, version: 'v1.7.2', healthy: true });
    const { nextDial, ...state } = linkStates[0]!;
    assert.ok(!Number.isNaN(Date.parse(String(nextDial))));
    assert.deepEqual(state, {
      id: linkId,
      key: link['key'],
      status: 'established',
      dialAttempts: 1,
      connectedCount: 1,
      retryDelay: '0s',
      targetAddress: link['dialAddress'],
      targetGroups: ['default'],
      targetBinding: 'default',
      dialerGroups: ['default'],
      dialerBinding: 'default',
      ctrlsNotified: true,
      establishedLinkId: linkId,
    });
  });
});

/** Sends a payload and an acknowledgement. */
function exchange(from: LinkingRouter): void {
  from.link().deliver(new PayloadFrame('c1', 7, 0, Buffer.from('data')));
  from.link().deliver(new AcknowledgementFrame('c1', 0, 0, [1, 2, 3]));
}

function relayed(router: LinkingRouter, relay: TcpRelay): AnnouncedPeer['listeners'] {
  return [{ ...router.links.advertised()[0]!, address: `tls:127.0.0.1:${relay.port}` }];
}
