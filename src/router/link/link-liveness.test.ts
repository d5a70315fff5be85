// Links with a slow, silent or closed peer, over real TLS; and the metrics of a link.
import assert from 'node:assert/strict';
import * as net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { dialChannel, type Channel } from '#net/channel';
import { AcknowledgementFrame, PAYLOAD_FLAGS, PayloadFrame } from '#wire/xgress';
import { FaultSubject } from '#wire/ctrl';
import { until } from '../../../test/support/deadline.ts';
import { closerOf } from '../../../test/support/server-sockets.ts';
import { NO_METRICS, type Metrics } from '../metrics/metrics.ts';
import { encodeLinkHello } from './link-hello-codec.ts';
import {
  linkDialerFixture,
  linkListenerFixture,
  LinkMesh,
  type LinkingRouter,
  type MeshRouterOptions,
  type AnnouncedPeer,
} from './testing/link-mesh.ts';
import { TcpRelay } from './testing/tcp-relay.ts';

const ONE_CONNECTION = linkDialerFixture({ maxDefaultConnections: 1, maxAckConnections: 0 });
const BEATS = { sendIntervalMs: 40, checkIntervalMs: 20, closeUnresponsiveMs: 0 };

let mesh: LinkMesh;
let names = 0;
const relays: TcpRelay[] = [];

before(async () => {
  mesh = await LinkMesh.make();
});
after(async () => {
  await mesh.close();
  for (const relay of relays) await relay.close();
});

const add = (options: MeshRouterOptions): Promise<LinkingRouter> => mesh.add(`r${(names += 1)}`, options);

interface RelayedPair {
  readonly dialer: LinkingRouter;
  readonly listener: LinkingRouter;
  readonly relay: TcpRelay;
  readonly linkId: string;
}

async function linkedPair(
  dialing: MeshRouterOptions,
  accepting: MeshRouterOptions = {},
  announced: Partial<AnnouncedPeer> = {},
): Promise<RelayedPair> {
  const dialer = await add({
    ...dialing,
    link: { listeners: [], dialers: [ONE_CONNECTION], ...dialing.link },
  });
  const listener = await add({ ...accepting, link: { dialers: [], ...accepting.link } });
  const relay = await TcpRelay.open(listener.port);
  relays.push(relay);
  const listeners = [{ ...listener.links.advertised()[0]!, address: `tls:127.0.0.1:${relay.port}` }];
  dialer.meet(listener, { listeners, ...announced });
  const { linkId } = await dialer.linked();
  await listener.linked();
  return { dialer, listener, relay, linkId };
}

/** The delay of the answer to a heartbeat. Before the first answer, the time limit is longer. */
const answered = (router: LinkingRouter): Promise<unknown> =>
  until(
    'an answer to a heartbeat',
    () => router.link().latencyNs,
    (latency) => latency !== undefined,
  );

/** Values by the name of their metric. */
class MetricsRecorder {
  readonly values = new Map<string, number[]>();
  readonly disposed: string[] = [];
  readonly metrics: Metrics = {
    ...NO_METRICS,
    meter: (name) => ({ mark: (count) => void this.#of(name).push(count) }),
    histogram: (name) => ({
      update: (value) => void this.#of(name).push(value),
      clear: () => void this.#of(name).splice(0),
    }),
    dispose: (prefix) => void this.disposed.push(prefix),
  };

  sum(name: string): number {
    return this.#of(name).reduce((sum, value) => sum + value, 0);
  }

  #of(name: string): number[] {
    const values = this.values.get(name) ?? [];
    this.values.set(name, values);
    return values;
  }
}

/**
 * How long a link remained after its last answer, and in how many checks. A pause of the machine counts as one check.
 */
class SilenceRecorder {
  readonly #timer: NodeJS.Timeout;
  #answeredMs = 0;
  #tickedMs = performance.now();
  #checks = 0;
  ended: { readonly afterMs: number; readonly checks: number } | undefined;
  readonly metrics: Metrics = {
    ...NO_METRICS,
    histogram: (name) => ({
      update: () => {
        if (!name.endsWith('.latency')) return;
        this.#answeredMs = performance.now();
        this.#checks = 0;
      },
      clear: () => {},
    }),
    dispose: () =>
      void (this.ended ??= { afterMs: performance.now() - this.#answeredMs, checks: this.#checks }),
  };

  constructor(checkIntervalMs: number) {
    this.#timer = setInterval(() => {
      const lateMs = performance.now() - this.#tickedMs - checkIntervalMs;
      this.#tickedMs = performance.now();
      // After such a pause of their own process, links give the peer the full time again.
      this.#checks = lateMs > 1_000 ? 0 : this.#checks + 1;
    }, checkIntervalMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

describe('a link whose other end answers nothing', () => {
  test('is closed after closeUnresponsiveTimeout and one check at the latest, and reported', async (t) => {
    const heartbeat = { sendIntervalMs: 50, checkIntervalMs: 25, closeUnresponsiveMs: 400 };
    const silences = [new SilenceRecorder(25), new SilenceRecorder(25)] as const;
    t.after(() => silences.forEach((silence) => silence.stop()));
    const { dialer, listener, relay, linkId } = await linkedPair(
      { metrics: silences[0].metrics, link: { heartbeat } },
      { metrics: silences[1].metrics, link: { heartbeat } },
    );
    for (const router of [dialer, listener]) await answered(router);
    relay.hold();
    for (const silence of silences) {
      const { value } = await until('the end of the link', () => silence.ended, Boolean);
      const { afterMs, checks } = value!;
      assert.ok(afterMs >= 390, `after ${Math.round(afterMs)} ms`);
      // The checks of the link and the checks counted here can differ by one at each end.
      assert.ok(checks <= 400 / 25 + 1 + 2, `after ${checks} checks`);
    }
    const faults = () => mesh.controller.bodies('fault').filter(({ id }) => id === linkId);
    await until(
      'the faults',
      () => faults().length,
      (count) => count >= 2,
    );
    assert.ok(faults().every(({ subject }) => subject === FaultSubject.LINK_FAULT));
  });

  test('is kept for ever when closeUnresponsiveTimeout is 0', async () => {
    const { dialer, listener, relay, linkId } = await linkedPair({ link: { heartbeat: BEATS } });
    await answered(dialer);
    relay.hold();
    dialer.link().deliver(new PayloadFrame('c1', 0, 0, Buffer.from('x')));
    await new Promise((resolve) => setImmediate(resolve));
    relay.release();
    await until(
      'the frame',
      () => listener.forwarding.frames.length,
      (count) => count === 1,
    );
    assert.equal(dialer.link(linkId).isClosed, false);
  });
});

describe('the measurements of a link', () => {
  test('its latency, at the send interval of heartbeats, and the time in its queue, at the check interval', async () => {
    const recorder = new MetricsRecorder();
    const fromMs = performance.now();
    const { dialer, linkId } = await linkedPair({
      metrics: recorder.metrics,
      link: { heartbeat: BEATS },
    });
    const latencies = () => recorder.values.get(`link.${linkId}.latency`)?.length ?? 0;
    await until('ten answers', latencies, (count) => count >= 10);
    const tookMs = performance.now() - fromMs;
    assert.ok(tookMs > 300, `ten beats in ${Math.round(tookMs)} ms`);
    const mostNs = tookMs * 1e6;
    assert.ok(recorder.values.get(`link.${linkId}.latency`)!.every((ns) => ns > 0 && ns < mostNs));
    await until(
      'queue times',
      () => recorder.values.get(`link.${linkId}.queue_time`)?.length ?? 0,
      (count) => count >= 5,
    );
    const [view] = dialer.links.links();
    assert.ok(view!.latency! > 0);
  });

  test('frames and bytes both ways; all of it goes with the link', async () => {
    const [near, far] = [new MetricsRecorder(), new MetricsRecorder()];
    const { dialer, listener, linkId, relay } = await linkedPair(
      { metrics: near.metrics },
      { metrics: far.metrics },
    );
    dialer.link().deliver(new PayloadFrame('c1', 0, 0, Buffer.from('four')));
    dialer.link().deliver(new AcknowledgementFrame('c1', 0, 0, [1, 2]));
    await until(
      'the frames',
      () => listener.forwarding.frames.length,
      (count) => count === 2,
    );
    const name = `link.${linkId}`;
    assert.deepEqual([near.sum(`${name}.tx.bytesrate`), near.sum(`${name}.tx.msgrate`)], [12, 2]);
    assert.deepEqual(near.values.get(`${name}.tx.msgsize`), [4, 8]);
    assert.deepEqual([far.sum(`${name}.rx.bytesrate`), far.sum(`${name}.rx.msgrate`)], [12, 2]);
    assert.deepEqual(far.values.get(`${name}.rx.msgsize`), [4, 8]);
    relay.cut(0);
    await until(
      'the end',
      () => near.disposed,
      (disposed) => disposed.includes(`${name}.`),
    );
    assert.equal(near.sum('faults.link'), 1);
  });
});

describe('a link whose other end does not read', () => {
  /** Delivers, in one turn in which no data leaves the connection, until the link is full. */
  function fill(router: LinkingRouter): number {
    router.link().deliver(new PayloadFrame('c1', 0, 0, Buffer.alloc(512 * 1024)));
    let count = 0;
    for (; router.link().isWritable; count += 1) {
      router.link().deliver(new PayloadFrame('c1', 1 + count, 0, Buffer.alloc(0)));
      assert.ok(count < 10_000, 'never full');
    }
    return count;
  }

  async function filled(
    link: NonNullable<MeshRouterOptions['link']>,
    announced: Partial<AnnouncedPeer> = {},
  ): Promise<number> {
    const { dialer } = await linkedPair({ link }, {}, announced);
    return fill(dialer);
  }

  test('payloadSenderQueueSize bounds the payloads that wait', async () => {
    const [few, many] = [await filled({ payloadQueueSize: 5 }), await filled({ payloadQueueSize: 500 })];
    assert.deepEqual([few, many], [5, 500]);
  });

  test('options.outQueueSize bounds them on a link of old, at its dialer and at its listener', async () => {
    const counts: number[][] = [];
    for (const outQueueSize of [3, 300]) {
      const channel = { ...ONE_CONNECTION.channel, outQueueSize };
      const { dialer, listener } = await linkedPair(
        { link: { dialers: [{ ...ONE_CONNECTION, split: false, channel }], payloadQueueSize: 5_000 } },
        { link: { listeners: [linkListenerFixture({ channel })], payloadQueueSize: 5_000 } },
        { version: 'v1.5.4' },
      );
      counts.push([fill(dialer), fill(listener)]);
    }
    assert.deepEqual(counts, [
      [3, 3],
      [300, 300],
    ]);
  });

  test('drops further frames, counted by kind, and signals when there is room again', async () => {
    const recorder = new MetricsRecorder();
    const { dialer, listener, linkId, relay } = await linkedPair({ metrics: recorder.metrics });
    relay.hold();
    const held = fill(dialer);
    for (let more = 0; more < 10; more += 1) {
      const flags = more % 2 === 0 ? 0 : PAYLOAD_FLAGS.retransmit;
      dialer.link().deliver(new PayloadFrame('c2', more, flags, Buffer.alloc(0)));
    }
    assert.equal(recorder.sum(`link.dropped_msgs:${linkId}`), 10);
    assert.equal(recorder.sum(`link.dropped_rtx_msgs:${linkId}`), 5);
    assert.equal(recorder.sum(`link.dropped_fwd_msgs:${linkId}`), 5);
    relay.release();
    await until(
      'room',
      () => dialer.forwarding.drained,
      (drained) => drained.includes(linkId),
    );
    assert.equal(dialer.link().isWritable, true);
    const { frames } = listener.forwarding;
    await until(
      'what was held',
      () => frames.length,
      (count) => count >= held,
    );
    assert.deepEqual(new Set(frames.map(({ frame }) => frame.circuitId)), new Set(['c1']));
  });

  test('ackSenderQueueSize bounds the acknowledgements that wait', async () => {
    const recorder = new MetricsRecorder();
    const { dialer, linkId, relay } = await linkedPair({
      metrics: recorder.metrics,
      link: { ackQueueSize: 7 },
    });
    relay.hold();
    dialer.link().deliver(new PayloadFrame('c1', 0, 0, Buffer.alloc(1024 * 1024)));
    for (let ack = 0; ack < 20; ack += 1) dialer.link().deliver(new AcknowledgementFrame('c1', 0, 0, [ack]));
    assert.equal(recorder.sum(`link.dropped_msgs:${linkId}`), 13);
    await dialer.close();
  });

  for (const side of ['dialer', 'listener'] as const) {
    test(`options.writeTimeout of the ${side} closes it when a write stands still so long`, async () => {
      const channel = { ...ONE_CONNECTION.channel, writeTimeoutMs: 200 };
      const pair = await linkedPair(
        side === 'dialer' ? { link: { dialers: [{ ...ONE_CONNECTION, channel }] } } : {},
        side === 'listener' ? { link: { listeners: [linkListenerFixture({ channel })] } } : {},
      );
      pair.relay.hold();
      for (let sequence = 0; sequence < 24; sequence += 1) {
        pair[side].link().deliver(new PayloadFrame('c1', sequence, 0, Buffer.alloc(1024 * 1024)));
      }
      await until(
        'the end of the link',
        () => pair[side].links.linkCount,
        (count) => count === 0,
      );
    });
  }
});

describe('links in duplicate', () => {
  /** Dials like the other router, but with an id that the test chooses. */
  async function dialBack(to: LinkingRouter, as: LinkingRouter, linkId: string): Promise<Channel> {
    const headers = encodeLinkHello({
      linkId,
      routerId: as.id,
      dialedRouterId: to.id,
      binding: '',
      iteration: 1,
      connectionId: '7b1c0f6e-0000-4000-8000-000000000001',
      routerVersion: 'v1.7.2',
    });
    const channel = await dialChannel({
      host: '127.0.0.1',
      port: to.port,
      tls: as.identity,
      alpn: 'ziti-link',
      helloId: linkId,
      helloHeaders: headers,
      timeoutMs: 30_000,
      log: silentLog,
    });
    await until(
      'the link to be verified',
      () => to.forwarding.links.has(linkId),
      (isThere) => isThere,
    );
    return channel;
  }

  test('leave the loser open for circuits to move: a minute when we dialed it, half of one when it is turned away', async () => {
    const clock = new ManualClock(Date.now());
    const [left, right] = [
      await add({ clock, link: { dialers: [ONE_CONNECTION] } }),
      await add({ link: { dialers: [] } }),
    ];
    left.meet(right);
    const { linkId: lost } = await left.linked();
    const openAfter = (ms: number, linkId: string): boolean => {
      clock.advance(ms);
      left.links.tick();
      return left.forwarding.links.has(linkId);
    };

    await dialBack(left, right, '0');
    assert.deepEqual(
      left.links.links().map(({ linkId }) => linkId),
      ['0'],
    );
    const faults = () => mesh.controller.bodies('fault').filter(({ id }) => id === lost);
    await until(
      'the fault',
      () => faults().map(({ subject }) => subject),
      ([subject]) => subject === FaultSubject.LINK_DUPLICATE,
    );
    assert.equal(openAfter(59_999, lost), true);
    assert.equal(openAfter(1, lost), false);

    const late = await dialBack(left, right, 'zz');
    assert.equal(left.links.linkCount, 1);
    assert.equal(openAfter(29_999, 'zz'), true);
    assert.equal(late.isClosed, false);
    assert.equal(openAfter(1, 'zz'), false);
    assert.equal(left.link('0').isClosed, false);
  });
});

test('links are dialed through the HTTP proxy of the file', async () => {
  const asked: string[] = [];
  const proxy = net.createServer((near) => {
    near.once('data', (head) => {
      asked.push(head.toString().split('\r\n')[0]!);
      const [, port] = /:(\d+) HTTP/.exec(asked.at(-1)!)!;
      const far = net.connect(Number(port), '127.0.0.1', () => {
        near.write('HTTP/1.1 200 OK\r\n\r\n');
        near.pipe(far).pipe(near);
      });
      far.on('error', () => near.destroy());
      near.on('error', () => far.destroy());
    });
  });
  const closeProxy = closerOf(proxy);
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as net.AddressInfo;
  const dialer = await add({
    link: { listeners: [], dialers: [ONE_CONNECTION] },
    proxy: { host: '127.0.0.1', port, username: undefined, password: undefined },
  });
  const listener = await add({ link: { dialers: [], listeners: [linkListenerFixture()] } });
  dialer.meet(listener);
  await dialer.linked();
  assert.deepEqual(asked, [`CONNECT 127.0.0.1:${listener.port} HTTP/1.1`]);
  await dialer.close();
  closeProxy();
});
