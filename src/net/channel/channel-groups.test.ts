import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { FrontdoorError, silentLog } from '#base';
import { CHANNEL_HEADERS, HeaderWriter, makeFrame, type FrameHeaders } from '#wire';
import { AcknowledgementFrame, PayloadFrame } from '#wire/xgress';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { until, within } from '../../../test/support/deadline.ts';
import type { Channel } from './channel.ts';
import { dialChannel, type ConnectionPlan, type DialChannelOptions } from './channel-dialer.ts';
import { ChannelListener, type ChannelListenerParts } from './channel-listener.ts';

const authority = await makeTestAuthority();
const server = await authority.issue('server');
const client = await authority.issue('client');

const LINK: ConnectionPlan = {
  kind: 'group',
  types: [
    { type: 'link.default', desired: 3, min: 1 },
    { type: 'link.ack', desired: 1, min: 0 },
  ],
  startupDelayMs: 0,
};
const COMPLETE = ['link.ack', 'link.default', 'link.default', 'link.default'];

interface Accepting {
  readonly listener: ChannelListener;
  readonly accepted: Channel[];
  readonly hellos: FrameHeaders[];
}

async function accept(t: TestContext, parts: Partial<ChannelListenerParts> = {}): Promise<Accepting> {
  const accepted: Channel[] = [];
  const hellos: FrameHeaders[] = [];
  const listener = await ChannelListener.open({
    host: '127.0.0.1',
    port: 0,
    tls: server,
    alpn: ['ziti-link'],
    ownId: 'router-b',
    allowGroups: true,
    log: silentLog,
    authorize: (hello) => {
      hellos.push(hello.headers);
      return { accept: true };
    },
    onChannel: (channel) => void accepted.push(channel),
    ...parts,
  });
  t.after(() => listener.close());
  return { listener, accepted, hellos };
}

async function dial(
  t: TestContext,
  port: number,
  connections: ConnectionPlan,
  more: Partial<DialChannelOptions> = {},
): Promise<Channel> {
  const channel = await dialChannel({
    host: '127.0.0.1',
    port,
    tls: client,
    alpn: 'ziti-link',
    helloId: 'link-1',
    helloHeaders: new HeaderWriter()
      .text(CHANNEL_HEADERS.connectionId, randomUUID())
      .text(2, 'router-a')
      .u32(5, 1)
      .build(),
    timeoutMs: 30_000,
    log: silentLog,
    connections,
    ...more,
  });
  t.after(() => channel.close('test is over'));
  return channel;
}

function typesOf(channel: Channel): string[] {
  return channel
    .underlays()
    .map(({ type }) => type)
    .toSorted();
}

async function untilTypes(channel: Channel, types: readonly string[]): Promise<void> {
  await until(
    `the connections ${types.join(', ')}`,
    () => typesOf(channel),
    (now) => now.join() === types.join(),
  );
}

/** A relay whose connections a test can end, oldest first. */
async function relayTo(t: TestContext, port: number): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const relay = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    for (const each of [socket, onward]) each.on('error', () => {});
    socket.pipe(onward).pipe(socket);
    socket.on('close', () => {
      onward.destroy();
      sockets.splice(sockets.indexOf(socket), 1);
    });
    sockets.push(socket);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  t.after(() => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  });
  return { port: (relay.address() as AddressInfo).port, sockets };
}

describe('a group of connections', () => {
  test('is dialed to the number of each type and is one channel on both sides', async (t) => {
    const { listener, accepted, hellos } = await accept(t);
    const channel = await dial(t, listener.port, LINK);
    await untilTypes(channel, COMPLETE);
    assert.equal(accepted.length, 1);
    await untilTypes(accepted[0]!, COMPLETE);
    assert.equal(channel.id, accepted[0]!.id);
    const [hello] = hellos as [FrameHeaders];
    assert.equal(hellos.length, 1, 'joins are not judged again');
    assert.equal(hello.text(CHANNEL_HEADERS.underlayType), 'link.default');
    assert.equal(hello.bool(CHANNEL_HEADERS.isFirstGroupConnection), true);
    const [first] = channel.underlays();
    assert.match(first!.localAddress, /^tcp:127\.0\.0\.1:\d+$/);
    assert.equal(first!.remoteAddress, `tcp:127.0.0.1:${listener.port}`);
  });

  test('has the numbers that are asked for, after the delay that is asked for', async (t) => {
    const { listener } = await accept(t);
    const startedMs = performance.now();
    const channel = await dial(t, listener.port, {
      kind: 'group',
      types: [
        { type: 'link.default', desired: 2, min: 1 },
        { type: 'link.ack', desired: 0, min: 0 },
      ],
      startupDelayMs: 150,
    });
    assert.deepEqual(typesOf(channel), ['link.default']);
    await untilTypes(channel, ['link.default', 'link.default']);
    assert.ok(performance.now() - startedMs >= 150);
  });

  test('carries payloads, acknowledgements and control frames once each', async (t) => {
    const { listener, accepted } = await accept(t);
    const channel = await dial(t, listener.port, LINK);
    await untilTypes(channel, COMPLETE);
    const payloads = new Set<number>();
    const acks = new Set<number>();
    const events = new EventEmitter();
    accepted[0]!.handle({
      onFrame: (frame, from) => void from.reply(frame, makeFrame(9)),
      onData: (frame) => {
        if (frame instanceof PayloadFrame) payloads.add(frame.sequence);
        else acks.add(frame.sequences[0]!);
        if (payloads.size + acks.size === 4_000) events.emit('all');
      },
    });
    channel.handle({ onFrame: () => {} });
    const all = within('all frames', once(events, 'all'));
    for (let sequence = 0; sequence < 2_000; sequence += 1) {
      channel.sendData(new PayloadFrame('circuit', sequence, 0, Buffer.alloc(1_000)));
      channel.sendData(new AcknowledgementFrame('circuit', 0, 0, [sequence]));
    }
    await all;
    await channel.request(makeFrame(9), 30_000);
  });

  test('sends acknowledgements alone on the connection for them', async (t) => {
    const { listener, accepted } = await accept(t);
    const relay = await relayTo(t, listener.port);
    const channel = await dial(t, relay.port, {
      kind: 'group',
      types: [
        { type: 'link.default', desired: 1, min: 1 },
        { type: 'link.ack', desired: 1, min: 0 },
      ],
      startupDelayMs: 0,
    });
    await untilTypes(channel, ['link.ack', 'link.default']);
    channel.handle({ onFrame: () => {} });
    const events = new EventEmitter();
    accepted[0]!.handle({ onFrame: () => events.emit('frame'), onData: () => events.emit('data') });
    const [forPayloads, forAcks] = relay.sockets as [Socket, Socket];
    const before = [forPayloads.bytesRead, forAcks.bytesRead] as const;
    const data = once(events, 'data');
    channel.sendData(
      new AcknowledgementFrame(
        'circuit',
        0,
        0,
        Array.from({ length: 500 }, (_, i) => i),
      ),
    );
    await within('the acknowledgement', data);
    assert.equal(forPayloads.bytesRead, before[0]);
    assert.ok(forAcks.bytesRead >= before[1] + 2_000);
    const acksAfter = forAcks.bytesRead;
    const frame = once(events, 'frame');
    const payload = once(events, 'data');
    channel.sendData(new PayloadFrame('circuit', 1, 0, Buffer.alloc(10_000)));
    channel.send(makeFrame(9));
    await within('the others', Promise.all([frame, payload]));
    assert.equal(forAcks.bytesRead, acksAfter);
  });

  test('outlives the loss of a connection and is completed again', async (t) => {
    const { listener, accepted } = await accept(t);
    const relay = await relayTo(t, listener.port);
    const channel = await dial(t, relay.port, LINK);
    const changes: number[] = [];
    channel.handle({
      onFrame: () => {},
      onUnderlays: (changed) => void changes.push(changed.underlays().length),
    });
    await untilTypes(channel, COMPLETE);
    accepted[0]!.handle({ onFrame: (frame, from) => void from.reply(frame, makeFrame(9)) });
    assert.equal(changes.length, 3, 'each connection after the first is reported');
    const heldBefore = [...relay.sockets];
    // Those that lived for less than 10 s are dialed again after 2 s.
    relay.sockets[1]!.destroy();
    await until(
      'the loss',
      () => changes,
      (counts) => counts.length > 3,
    );
    assert.equal(changes[3], 3);
    await channel.request(makeFrame(9), 30_000);
    assert.equal(channel.isClosed, false);
    await untilTypes(channel, COMPLETE);
    assert.equal(changes.length, 5);
    assert.equal(relay.sockets.length, 4);
    assert.ok(heldBefore.includes(relay.sockets[0]!), 'the others stayed');
  });

  test('ends on both sides with the last connection that carries everything', async (t) => {
    const { listener, accepted } = await accept(t);
    const relay = await relayTo(t, listener.port);
    const types = [
      { type: 'link.default', desired: 1, min: 1 },
      { type: 'link.ack', desired: 1, min: 0 },
    ];
    const channel = await dial(t, relay.port, { kind: 'group', types, startupDelayMs: 0 });
    await untilTypes(channel, ['link.ack', 'link.default']);
    const closed = [channel, accepted[0]!].map(
      (each) => new Promise((resolve) => each.handle({ onFrame: () => {}, onClose: resolve })),
    );
    relay.sockets[0]!.destroy();
    await within('both ends', Promise.all(closed));
    await until(
      'the other connection',
      () => relay.sockets.length,
      (count) => count === 0,
    );
    await until(
      'the listener',
      () => listener.channels.size,
      (count) => count === 0,
    );
  });

  test('below the least number of a type ends', async (t) => {
    const { listener } = await accept(t);
    const relay = await relayTo(t, listener.port);
    const types = [
      { type: 'link.default', desired: 1, min: 1 },
      { type: 'link.ack', desired: 1, min: 1 },
    ];
    const channel = await dial(t, relay.port, { kind: 'group', types, startupDelayMs: 0 });
    await untilTypes(channel, ['link.ack', 'link.default']);
    const closed = new Promise((resolve) => channel.handle({ onFrame: () => {}, onClose: resolve }));
    relay.sockets[1]!.destroy();
    await within('the end', closed);
  });

  test('is one plain connection to a listener without groups', async (t) => {
    const { listener, accepted } = await accept(t, { allowGroups: false });
    const channel = await dial(t, listener.port, LINK);
    accepted[0]!.handle({ onFrame: (frame, from) => void from.reply(frame, makeFrame(9)) });
    await channel.request(makeFrame(9), 30_000);
    assert.deepEqual(typesOf(channel), ['default']);
    assert.equal(accepted.length, 1);
  });

  test('stops dialing when its channel is closed', async (t) => {
    const { listener, accepted } = await accept(t);
    const channel = await dial(t, listener.port, LINK);
    channel.close('enough');
    const gone = new Promise((resolve) => accepted[0]!.handle({ onFrame: () => {}, onClose: resolve }));
    await within('the end', gone);
    await until(
      'the listener',
      () => listener.channels.size,
      (count) => count === 0,
    );
  });
});

describe('a split link', () => {
  test('is one channel over a connection for payloads and one for acknowledgements', async (t) => {
    const { listener, accepted, hellos } = await accept(t);
    const channel = await dial(t, listener.port, { kind: 'split' });
    assert.deepEqual(typesOf(channel), ['ack', 'payload']);
    await until(
      'the pair',
      () => accepted.length,
      (count) => count === 1,
    );
    assert.deepEqual(typesOf(accepted[0]!), ['ack', 'payload']);
    assert.deepEqual(
      hellos.map((headers) => [...headers.bytes(CHANNEL_HEADERS.replyFor)!]),
      [[1], [2]],
    );
    assert.equal(hellos[0]!.text(0), hellos[1]!.text(0));
    const got: string[] = [];
    const events = new EventEmitter();
    accepted[0]!.handle({
      onFrame: () => {},
      onData: (frame) => {
        got.push(frame.constructor.name);
        if (got.length === 2) events.emit('both');
      },
    });
    const both = within('both', once(events, 'both'));
    channel.sendData(new PayloadFrame('circuit', 1, 0, Buffer.from('x')));
    channel.sendData(new AcknowledgementFrame('circuit', 0, 0, [1]));
    await both;
    assert.deepEqual(got.toSorted(), ['AcknowledgementFrame', 'PayloadFrame']);
  });

  test('ends with either of its connections', async (t) => {
    for (const index of [0, 1]) {
      const { listener, accepted } = await accept(t);
      const relay = await relayTo(t, listener.port);
      const channel = await dial(t, relay.port, { kind: 'split' });
      await until(
        'the pair',
        () => accepted.length,
        (count) => count === 1,
      );
      const closed = [channel, accepted[0]!].map(
        (each) => new Promise((resolve) => each.handle({ onFrame: () => {}, onClose: resolve })),
      );
      relay.sockets[index]!.destroy();
      await within('both ends', Promise.all(closed));
    }
  });

  test('is not made of halves of different peers, nor of two of one kind', async (t) => {
    const { listener, accepted } = await accept(t);
    const impostor = await authority.issue('impostor');
    const helloHeaders = (half: number): FrameHeaders =>
      new HeaderWriter().text(CHANNEL_HEADERS.connectionId, 'pair').u8(1, half).build();
    const single: ConnectionPlan = { kind: 'single' };
    await dial(t, listener.port, single, { helloHeaders: helloHeaders(1) });
    const refused = (error: unknown): boolean =>
      error instanceof FrontdoorError && error.code === 'channel-refused';
    const foreign = { helloHeaders: helloHeaders(2), tls: impostor };
    await assert.rejects(dial(t, listener.port, single, foreign), refused);
    await assert.rejects(dial(t, listener.port, single, { helloHeaders: helloHeaders(1) }), refused);
    assert.equal(accepted.length, 0);
    await dial(t, listener.port, single, { helloHeaders: helloHeaders(2) });
    await until(
      'the pair',
      () => accepted.length,
      (count) => count === 1,
    );
  });

  test('is plain to listeners of other protocols', async (t) => {
    const { listener, accepted } = await accept(t, { alpn: ['ziti-ctrl'] });
    const helloHeaders = new HeaderWriter().u8(1, 1).build();
    await dial(t, listener.port, { kind: 'single' }, { alpn: 'ziti-ctrl', helloHeaders });
    await until(
      'the channel',
      () => accepted.length,
      (count) => count === 1,
    );
    assert.deepEqual(typesOf(accepted[0]!), ['default']);
  });
});
