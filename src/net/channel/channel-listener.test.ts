/** What a listener does with connections before, and besides, the channels that they become. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, test, type TestContext } from 'node:test';
import * as tls from 'node:tls';
import { silentLog, type Log } from '#base';
import {
  CHANNEL_HEADERS,
  contentType,
  encodeFrame,
  FrameDecoder,
  FrameHeaders,
  HELLO_LIMITS,
  HeaderWriter,
  makeFrame,
  makeHello,
  type Frame,
} from '#wire';
import { PayloadFrame } from '#wire/xgress';
import { makeTestAuthority, type TestIdentity } from '../../../test/support/certificates.ts';
import { until, within } from '../../../test/support/deadline.ts';
import { closeOf } from '../../../test/support/socket-end.ts';
import { TlsPorts } from '../tls-ports.ts';
import type { Channel } from './channel.ts';
import { dialChannel, type DialChannelOptions } from './channel-dialer.ts';
import { ChannelListener, type ChannelListenerParts } from './channel-listener.ts';

const authority = await makeTestAuthority();
const server = await authority.issue('server');
const client = await authority.issue('client');
const MIB = 1024 * 1024;

function parts(accepted: Channel[], more: Partial<ChannelListenerParts> = {}): ChannelListenerParts {
  return {
    alpn: ['ziti-link'],
    ownId: 'listener',
    allowGroups: true,
    log: silentLog,
    authorize: () => ({ accept: true }),
    onChannel: (channel) => void accepted.push(channel),
    ...more,
  };
}

async function open(t: TestContext, more: Partial<ChannelListenerParts> = {}, identity = server) {
  const accepted: Channel[] = [];
  const place = { host: '127.0.0.1', port: 0, tls: identity };
  const listener = await ChannelListener.open({ ...parts(accepted, more), ...place });
  t.after(() => listener.close());
  return { listener, accepted };
}

async function dial(t: TestContext, port: number, more: Partial<DialChannelOptions> = {}): Promise<Channel> {
  const channel = await dialChannel({
    host: '127.0.0.1',
    port,
    tls: client,
    alpn: 'ziti-link',
    helloId: 'dialer',
    helloHeaders: FrameHeaders.empty,
    timeoutMs: 30_000,
    log: silentLog,
    ...more,
  });
  t.after(() => channel.close('test is over'));
  return channel;
}

/** A connection after its handshake, for peers that do not keep to the protocol. */
async function connect(
  t: TestContext,
  port: number,
  { cert, key }: TestIdentity = client,
): Promise<tls.TLSSocket> {
  const socket = tls.connect({
    host: '127.0.0.1',
    port,
    ca: authority.ca,
    ALPNProtocols: ['ziti-link'],
    cert,
    key,
  });
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  await within('a handshake', once(socket, 'secureConnect'));
  return socket;
}

function answerTo(socket: tls.TLSSocket, hello: Frame): Promise<Frame | 'closed'> {
  const decoder = new FrameDecoder(HELLO_LIMITS);
  socket.write(encodeFrame(hello));
  return within(
    'an answer',
    new Promise((resolve) => {
      socket.on('close', () => resolve('closed'));
      socket.on('data', (chunk: Buffer) => void decoder.push(chunk, (frame) => resolve(frame)));
    }),
  );
}

const PLAIN_HELLO = makeHello('raw', FrameHeaders.empty);

describe('a channel listener', () => {
  test('shares its port with one of another protocol, and leaves it alone when it closes', async (t) => {
    const ports = new TlsPorts({ log: silentLog });
    t.after(() => ports.close());
    const identity = { default: server, alternates: [] };
    const port = await ports.open({ host: '127.0.0.1', port: 0, tls: identity, handshakeTimeoutMs: 30_000 });
    const [links, ctrls]: [Channel[], Channel[]] = [[], []];
    const linkListener = await ChannelListener.open({ ...parts(links), port });
    const ctrlListener = await ChannelListener.open({ ...parts(ctrls, { alpn: ['ziti-ctrl'] }), port });
    const link = await dial(t, port.port);
    await dial(t, port.port, { alpn: 'ziti-ctrl' });
    assert.deepEqual([links.length, ctrls.length], [1, 1]);
    await ctrlListener.close();
    await assert.rejects(dial(t, port.port, { alpn: 'ziti-ctrl' }));
    links[0]!.handle({ onFrame: (frame, from) => void from.reply(frame, makeFrame(9)) });
    await link.request(makeFrame(9), 30_000);
    await dial(t, port.port);
    await linkListener.close();
  });

  test('passes the peer’s chain to its authorization', async (t) => {
    const middle = await authority.intermediate('middle');
    const below = await middle.issue('below');
    const subjects: string[] = [];
    const { listener } = await open(t, {
      authorize: (_hello, _peer, certificate, chain) => {
        subjects.push(...[certificate, ...chain].map(({ subject }) => subject));
        return { accept: true };
      },
    });
    const identity = { ...below, cert: `${below.cert}\n${middle.ca}`, ca: authority.ca };
    await dial(t, listener.port, { tls: identity });
    assert.deepEqual(subjects, ['CN=below', 'CN=middle']);
  });

  test('is trusted by a dialer that trusts only its intermediate authority', async (t) => {
    const middle = await authority.intermediate('middle');
    const { listener } = await open(t, {}, await middle.issue('below'));
    await dial(t, listener.port, { tls: { ...client, ca: middle.ca } });
    const stranger = await makeTestAuthority('strangers');
    await assert.rejects(dial(t, listener.port, { tls: { ...client, ca: stranger.ca } }), {
      code: 'channel-failed',
    });
  });

  test('is not believed under a name that its certificate lacks', async (t) => {
    const { listener } = await open(t, {}, await authority.issue('server', { dns: ['elsewhere.example'] }));
    await assert.rejects(dial(t, listener.port, { host: 'localhost' }), { code: 'channel-failed' });
  });

  test('bounds connections without a hello; peers that send one replace the longest silent ones', async (t) => {
    const limits = { maxOutstandingConnects: 2, maxQueuedConnects: 1, helloTimeoutMs: 60_000 };
    const { listener, accepted } = await open(t, limits);
    const silent: tls.TLSSocket[] = [];
    for (let count = 0; count < 3; count += 1) silent.push(await connect(t, listener.port));
    const ended = silent.map((socket) => closeOf(socket.resume()));
    await dial(t, listener.port);
    await within('the oldest', ended[0]!);
    assert.equal(accepted.length, 1);
    assert.equal(silent[2]!.destroyed, false);
    const late = await answerTo(silent[2]!, PLAIN_HELLO);
    assert.notEqual(late, 'closed');
  });

  test('keeps a queued connection waiting until its turn, then takes its hello', async (t) => {
    // The second after which someone who waits pushes out the oldest does not pass here.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { listener, accepted } = await open(t, { maxOutstandingConnects: 1, maxQueuedConnects: 4 });
    const silent = await connect(t, listener.port);
    const waiting = dial(t, listener.port);
    // Its connection is before the next one in the queue.
    await new Promise<void>((resolve) => void setImmediate(resolve));
    const other = await connect(t, listener.port);
    assert.equal(accepted.length, 0);
    silent.destroy();
    await within('its turn', waiting);
    assert.equal(accepted.length, 1);
    other.destroy();
  });

  test('ends a hello that comes byte by byte at its deadline', async (t) => {
    const { listener, accepted } = await open(t, { helloTimeoutMs: 300 });
    const socket = await connect(t, listener.port);
    // Without the option it would be 5 s.
    const closed = within('the deadline', closeOf(socket.resume()), 4_500);
    const bytes = encodeFrame(PLAIN_HELLO);
    let at = 0;
    const drip = setInterval(() => socket.write(bytes.subarray(at, (at += 1))), 50);
    await closed.finally(() => clearInterval(drip));
    assert.equal(accepted.length, 0);
  });

  test('admits a join only by secret and certificate, whatever its other headers', async (t) => {
    const { listener, accepted } = await open(t);
    const group = (): HeaderWriter =>
      new HeaderWriter().text(CHANNEL_HEADERS.connectionId, 'group').bool(CHANNEL_HEADERS.isGrouped, true);
    const first = await answerTo(
      await connect(t, listener.port),
      makeHello('raw', group().bool(CHANNEL_HEADERS.isFirstGroupConnection, true).build()),
    );
    assert.ok(first !== 'closed');
    assert.equal(first.headers.text(CHANNEL_HEADERS.connectionId), 'group', 'the dialer chose the id');
    const secret = first.headers.bytes(CHANNEL_HEADERS.groupSecret)!;
    const join = makeHello(
      'raw',
      group()
        .bytes(CHANNEL_HEADERS.groupSecret, secret)
        .bool(CHANNEL_HEADERS.isFirstGroupConnection, true)
        .build(),
    );
    assert.notEqual(await answerTo(await connect(t, listener.port), join), 'closed');
    assert.equal(accepted[0]!.underlays().length, 2);

    const thief = await authority.issue('client');
    assert.equal(await answerTo(await connect(t, listener.port, thief), join), 'closed');
    const again = makeHello('raw', group().bool(CHANNEL_HEADERS.isFirstGroupConnection, true).build());
    assert.equal(
      await answerTo(await connect(t, listener.port), again),
      'closed',
      'a second group of that id',
    );
    assert.equal(accepted[0]!.underlays().length, 2);
    assert.equal(accepted.length, 1);
  });

  test('takes a secret that the dialer brings from a group that is gone', async (t) => {
    const { listener } = await open(t);
    const secret = Buffer.alloc(16, 7);
    const headers = new HeaderWriter()
      .text(CHANNEL_HEADERS.connectionId, 'old-1')
      .bool(CHANNEL_HEADERS.isGrouped, true)
      .bool(CHANNEL_HEADERS.isFirstGroupConnection, true)
      .bytes(CHANNEL_HEADERS.groupSecret, secret)
      .build();
    const answer = await answerTo(await connect(t, listener.port), makeHello('raw', headers));
    assert.ok(answer !== 'closed');
    assert.deepEqual([...answer.headers.bytes(CHANNEL_HEADERS.groupSecret)!], [...secret]);
  });

  test('keeps what came behind the hello until a paused channel is read', async (t) => {
    const { listener, accepted } = await open(t, {
      onChannel: (channel) => {
        channel.pauseReading();
        accepted.push(channel);
      },
    });
    const socket = await connect(t, listener.port);
    // More frames than a channel without handlers may hold, right behind the hello.
    const frames = Array.from({ length: 400 }, (_, index) =>
      encodeFrame(makeFrame(9, { sequence: index + 1 })),
    );
    socket.write(Buffer.concat([encodeFrame(PLAIN_HELLO), ...frames]));
    await until(
      'the channel',
      () => accepted.length,
      (count) => count === 1,
    );
    const [channel] = accepted as [Channel];
    let received = 0;
    const events = new EventEmitter();
    channel.handle({ onFrame: () => void ((received += 1) === 400 && events.emit('all')) });
    assert.equal(received, 0);
    const all = within('all frames', once(events, 'all'));
    channel.resumeReading();
    await all;
  });

  test('takes frames of 64 MiB on control channels, data of 16 MiB on others, and short messages beside', async (t) => {
    for (const [alpn, type, limit] of [
      ['ziti-ctrl', 9, 64 * MIB],
      ['ziti-link', contentType.data, 16 * MIB],
      ['ziti-link', 9, MIB],
      ['ziti-edge', contentType.data, 16 * MIB],
      ['ziti-edge', contentType.bind, MIB / 4],
    ] as const) {
      const { listener, accepted } = await open(t, { alpn: [alpn] });
      const channel = await dial(t, listener.port, { alpn });
      const events = new EventEmitter();
      accepted[0]!.handle({
        onFrame: (frame) => events.emit('frame', frame.body.length),
        onClose: (reason) => events.emit('closed', reason),
      });
      channel.handle({ onFrame: () => {} });
      const frame = once(events, 'frame');
      channel.send(makeFrame(type, { body: new Uint8Array(limit) }));
      assert.deepEqual(await within('the frame', frame), [limit]);
      const closed = once(events, 'closed');
      channel.send(makeFrame(type, { body: new Uint8Array(limit + 1) }));
      assert.match(String((await within('the close', closed))[0]), /body-too-long/);
    }
  });

  test('logs once, with a count, what many peers do at the same time', async (t) => {
    const lines: { message: string; fields: Readonly<Record<string, unknown>> }[] = [];
    const log: Log = { ...silentLog, warn: (fields, message) => void lines.push({ fields, message }) };
    const { listener } = await open(t, { log });
    const sockets = Array.from({ length: 20 }, () => {
      const socket = tls.connect({
        host: '127.0.0.1',
        port: listener.port,
        ca: authority.ca,
        ALPNProtocols: ['ziti-link'],
      });
      socket.on('error', () => {});
      return closeOf(socket.resume());
    });
    await within('all refused', Promise.all(sockets));
    assert.deepEqual(
      lines.map(({ message }) => message),
      ['refused a peer without a certificate'],
    );
  });

  test('ends its channels and their connections when it closes', async (t) => {
    const { listener } = await open(t);
    const channel = await dial(t, listener.port);
    const closed = new Promise((resolve) => channel.handle({ onFrame: () => {}, onClose: resolve }));
    const stuck = await connect(t, listener.port);
    const gone = closeOf(stuck.resume());
    await within('the close', listener.close());
    await within('both ends', Promise.all([closed, gone]));
    assert.equal(channel.sendData(new PayloadFrame('circuit', 0, 0, Buffer.alloc(1))), false);
  });
});
