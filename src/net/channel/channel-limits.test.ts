/** What a channel does when its peer, or the way to it, does not: slow readers, silence, hostile beats. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { silentLog } from '#base';
import { CHANNEL_HEADERS, FrameHeaders, HEARTBEAT_TYPE, HeaderWriter, makeFrame } from '#wire';
import { AcknowledgementFrame, PayloadFrame } from '#wire/xgress';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { until, within } from '../../../test/support/deadline.ts';
import type { Channel, ChannelHandlers, ChannelPeer } from './channel.ts';
import { dialChannel, type DialChannelOptions } from './channel-dialer.ts';
import { ChannelListener, type ChannelListenerParts } from './channel-listener.ts';
import type { HeartbeatOptions } from './heartbeat-machine.ts';
import { openMemoryChannel } from './memory-driver.ts';

const authority = await makeTestAuthority();
const server = await authority.issue('server');
const client = await authority.issue('client');

/** A channel through a relay that a test can stop: what is sent then goes nowhere, and nobody is notified. */
async function openThroughRelay(
  t: TestContext,
  dialing: Partial<DialChannelOptions> = {},
  listening: Partial<ChannelListenerParts> & { readonly heartbeat?: HeartbeatOptions } = {},
) {
  const { heartbeat, ...parts } = listening;
  const accepted: Channel[] = [];
  const listener = await ChannelListener.open({
    host: '127.0.0.1',
    port: 0,
    tls: server,
    alpn: ['ziti-link'],
    ownId: 'listener',
    allowGroups: true,
    log: silentLog,
    authorize: () => ({ accept: true, heartbeat }),
    onChannel: (channel) => void accepted.push(channel),
    ...parts,
  });
  const sockets: Socket[] = [];
  const relay = createServer((socket) => {
    const onward = connect(listener.port, '127.0.0.1');
    for (const each of [socket, onward]) {
      each.on('error', () => {});
      sockets.push(each);
    }
    socket.pipe(onward).pipe(socket);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const dialer = await dialChannel({
    host: '127.0.0.1',
    port: (relay.address() as AddressInfo).port,
    tls: client,
    alpn: 'ziti-link',
    helloId: 'dialer',
    helloHeaders: FrameHeaders.empty,
    timeoutMs: 30_000,
    log: silentLog,
    ...dialing,
  });
  t.after(async () => {
    dialer.close('test is over');
    for (const socket of sockets) socket.destroy();
    relay.close();
    await listener.close();
  });
  const blackhole = (): void => {
    for (const socket of sockets) {
      socket.unpipe();
      socket.pause();
    }
  };
  const heal = (): void => {
    const [from, onward] = sockets as [Socket, Socket];
    from.pipe(onward).pipe(from);
  };
  return { dialer, listener: accepted[0]!, blackhole, heal };
}

function closing(channel: Channel, handlers: Partial<ChannelHandlers> = {}): Promise<string> {
  return new Promise((resolve) => channel.handle({ onFrame: () => {}, ...handlers, onClose: resolve }));
}

/** Sends payloads until the channel says stop; how many it took. */
function fill(channel: Channel, bytes: number): number {
  const data = Buffer.alloc(bytes);
  let sent = 0;
  while (channel.isWritable) {
    channel.sendData(new PayloadFrame('circuit', sent, 0, data));
    sent += 1;
    assert.ok(sent < 1_000_000, 'the queue must have a bound');
  }
  return sent;
}

/** Fills what lies between: the buffers of the kernel and of the relay; then as often as more is taken. */
async function fillUp(channel: Channel): Promise<void> {
  const data = Buffer.alloc(4 * 1024);
  for (let idle = 0; idle < 20 || channel.isWritable;) {
    if (channel.isWritable) {
      idle = 0;
      channel.sendData(new PayloadFrame('circuit', 0, 0, data));
    } else {
      idle += 1;
    }
    await new Promise((resolve) => void setImmediate(resolve));
  }
}

describe('a full channel', () => {
  test('queues as many frames as its queue holds, and signals a stop before it drops any', async (t) => {
    for (const outQueueSize of [4, 64]) {
      const { dialer, blackhole } = await openThroughRelay(t, { outQueueSize });
      dialer.handle({ onFrame: () => {} });
      blackhole();
      await fillUp(dialer);
      assert.equal(dialer.dropped.payloads, 0, 'a sender that heeds isWritable loses nothing');
      assert.equal(dialer.sendData(new PayloadFrame('circuit', 0, 0, Buffer.alloc(10))), false);
      assert.deepEqual(dialer.dropped, { payloads: 1, acknowledgements: 0 });
    }
  });

  test('takes the fewer frames, the shorter its queue is', async (t) => {
    const taken: number[] = [];
    for (const outQueueSize of [0, 10, 300]) {
      const { dialer, blackhole } = await openThroughRelay(t, { outQueueSize });
      dialer.handle({ onFrame: () => {} });
      blackhole();
      // All within one turn of the loop: nothing of it reaches the kernel in the meantime.
      taken.push(fill(dialer, 1_000));
    }
    const [none, ten, many] = taken as [number, number, number];
    assert.equal(ten - none, 10);
    assert.equal(many - none, 300);
  });

  test('of a link counts payloads and acknowledgements apart', async (t) => {
    const { dialer, blackhole } = await openThroughRelay(t, { payloadQueueSize: 5, ackQueueSize: 7 });
    dialer.handle({ onFrame: () => {} });
    blackhole();
    fill(dialer, 64 * 1024);
    const sequences = Array.from({ length: 100 }, (_, index) => index);
    for (let count = 0; count < 20; count += 1) {
      dialer.sendData(new AcknowledgementFrame('circuit', 0, 0, sequences));
      dialer.sendData(new PayloadFrame('circuit', 0, 0, Buffer.alloc(10)));
    }
    assert.deepEqual(dialer.dropped, { payloads: 20, acknowledgements: 13 });
  });

  test('continues where it stopped once there is room', async (t) => {
    const { dialer, listener, blackhole, heal } = await openThroughRelay(t, { outQueueSize: 16 });
    let received = 0;
    listener.handle({ onFrame: () => {}, onData: () => void (received += 1) });
    const events = new EventEmitter();
    dialer.handle({ onFrame: () => {}, onDrain: () => events.emit('drain') });
    blackhole();
    let sent = fill(dialer, 8 * 1024);
    const drained = within('room', once(events, 'drain'));
    heal();
    await drained;
    sent += fill(dialer, 8 * 1024);
    await until(
      'every payload',
      () => received,
      (count) => count === sent,
    );
    assert.deepEqual(dialer.dropped, { payloads: 0, acknowledgements: 0 });
  });

  test('closes a connection whose write stands still for its time', async (t) => {
    const { dialer, blackhole } = await openThroughRelay(t, { writeTimeoutMs: 200 });
    const closed = closing(dialer);
    blackhole();
    await fillUp(dialer);
    const reason = await within('the close', closed);
    assert.equal(reason, 'a write stood still for 200 ms');
  });

  test('does not close an idle connection for standing still', async (t) => {
    // The write itself may take longer than usual where this process is kept from continuing.
    const heartbeat = { sendIntervalMs: 1_200, closeAfterMs: 0, checkIntervalMs: 20 };
    const { dialer } = await openThroughRelay(t, { writeTimeoutMs: 1_000, heartbeat });
    const events = new EventEmitter();
    dialer.handle({ onFrame: () => {}, onLatency: () => events.emit('answer') });
    for (let beats = 0; beats < 3; beats += 1) await within('an answer', once(events, 'answer'));
    assert.equal(dialer.isClosed, false);
  });

  test('measures how long frames wait in it', async (t) => {
    const { dialer } = await openThroughRelay(t);
    dialer.handle({ onFrame: () => {} });
    dialer.sendData(new PayloadFrame('circuit', 0, 0, Buffer.alloc(10)));
    await within('the queue', new Promise<void>((resolve) => dialer.afterQueued(resolve)));
  });
});

describe('the peer of a channel', () => {
  test('that does not answer is gone within the close time and a second', async (t) => {
    const heartbeat = { sendIntervalMs: 100, closeAfterMs: 400, checkIntervalMs: 50 };
    const { dialer, blackhole } = await openThroughRelay(t, { heartbeat });
    const events = new EventEmitter();
    let answeredMs = 0;
    const onLatency = (): void => {
      answeredMs = performance.now();
      events.emit('answer');
    };
    const closed = closing(dialer, { onLatency });
    await within('an answer', once(events, 'answer'));
    blackhole();
    assert.match(await within('the close', closed), /^the peer was silent/);
    // That it is not much later either is seen with the clock of `heartbeat-machine.test.ts`.
    const tookMs = performance.now() - answeredMs;
    assert.ok(tookMs >= 390, `${tookMs} ms`);
  });

  test('that never answered is gone within twice the close time', async (t) => {
    const heartbeat = { sendIntervalMs: 50, closeAfterMs: 200, checkIntervalMs: 20 };
    const { dialer, blackhole } = await openThroughRelay(t, { heartbeat });
    blackhole();
    await within('the close', closing(dialer));
  });

  test('is unresponsive while an answer is late, and responsive after one', async (t) => {
    const heartbeat = { sendIntervalMs: 60, closeAfterMs: 0, checkIntervalMs: 20, unresponsiveAfterMs: 100 };
    const { dialer, blackhole, heal } = await openThroughRelay(t, { heartbeat });
    dialer.handle({ onFrame: () => {} });
    assert.ok(dialer.isResponsive);
    blackhole();
    await until(
      'silence',
      () => dialer.isResponsive,
      (isResponsive) => !isResponsive,
    );
    heal();
    await until(
      'answers',
      () => dialer.isResponsive,
      (isResponsive) => isResponsive,
    );
  });

  test('gets a heartbeat as soon as the channel is handled, so that it expects more', (t) => {
    const heartbeat = { sendIntervalMs: 60_000, closeAfterMs: 0 };
    const peer: ChannelPeer = { id: 'x', hello: FrameHeaders.empty, fingerprint: '', address: 'memory' };
    const [dialer, listener] = openMemoryChannel(
      { id: 'pair', peer, log: silentLog, heartbeat },
      { id: 'pair', peer, log: silentLog },
    );
    t.after(() => dialer.close('test over'));
    const sent: number[] = [];
    dialer.observe((frame) => void sent.push(frame.contentType));
    listener.handle({ onFrame: () => {} });
    assert.deepEqual(sent, []);
    dialer.handle({ onFrame: () => {} });
    assert.deepEqual(sent, [HEARTBEAT_TYPE]);
  });

  test('answers a heartbeat with the same eight bytes, for any bytes', async () => {
    const peer = { id: 'peer', hello: FrameHeaders.empty, fingerprint: '', address: 'memory' };
    const options = { id: 'pair', peer, log: silentLog };
    const [ours, theirs] = openMemoryChannel(options, options);
    const events = new EventEmitter();
    ours.observe((frame, direction) => void (direction === 'rx' && events.emit('frame', frame)));
    theirs.handle({ onFrame: () => {} });
    const beat = Uint8Array.of(255, 254, 253, 252, 251, 250, 249, 248);
    const answered = once(events, 'frame');
    ours.send(
      makeFrame(HEARTBEAT_TYPE, { headers: new HeaderWriter().bytes(CHANNEL_HEADERS.heartbeat, beat) }),
    );
    const [answer] = await within('the answer', answered);
    assert.deepEqual([...answer.headers.bytes(CHANNEL_HEADERS.heartbeatResponse)], [...beat]);
  });

  test('cannot invent latencies: answers to beats that were never sent count for nothing', async () => {
    const peer = { id: 'peer', hello: FrameHeaders.empty, fingerprint: '', address: 'memory' };
    const heartbeat = { sendIntervalMs: 30, closeAfterMs: 0, checkIntervalMs: 10 };
    const [ours, theirs] = openMemoryChannel(
      { id: 'pair', peer, log: silentLog, heartbeat },
      { id: 'pair', peer, log: silentLog },
    );
    const events = new EventEmitter();
    const latencies: number[] = [];
    const startedMs = performance.now();
    ours.handle({
      onFrame: () => {},
      onLatency: (nanoseconds) => {
        latencies.push(nanoseconds);
        events.emit('latency');
      },
    });
    theirs.handle({ onFrame: () => {} });
    for (const beat of [0n, 1n, 0xffff_ffff_ffff_ffffn]) {
      const headers = new HeaderWriter().u64(CHANNEL_HEADERS.heartbeatResponse, beat);
      theirs.send(makeFrame(HEARTBEAT_TYPE, { headers }));
    }
    await within('a true answer', once(events, 'latency'));
    assert.equal(latencies.length, 1);
    const mostNs = (performance.now() - startedMs) * 1e6;
    assert.ok(latencies[0]! > 0 && latencies[0]! <= mostNs, `${latencies[0]} of ${mostNs} ns`);
    ours.close('done');
  });

  test('may send the answers to heartbeats with data', async (t) => {
    const heartbeat = { sendIntervalMs: 30, closeAfterMs: 0, checkIntervalMs: 10 };
    const { dialer, listener } = await openThroughRelay(t, {}, { heartbeat });
    const events = new EventEmitter();
    listener.handle({ onFrame: () => {}, onLatency: () => events.emit('latency') });
    // A peer's beats, and what it answers to ours, both on payloads.
    let ridden = 0;
    dialer.observe((frame, direction) => {
      const beat = frame.headers.bytes(CHANNEL_HEADERS.heartbeat);
      if (direction !== 'rx' || beat === undefined) return;
      ridden += 1;
      const headers = new HeaderWriter()
        .bytes(CHANNEL_HEADERS.heartbeatResponse, beat.slice())
        .text(2256, 'circuit')
        .u64(2257, 1n);
      dialer.send(makeFrame(1100, { headers }));
    });
    await within('a latency', once(events, 'latency'));
    assert.ok(ridden > 0);
  });
});
