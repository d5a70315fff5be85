import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import * as tls from 'node:tls';
import { FrontdoorError, silentLog } from '#base';
import {
  CHANNEL_HEADERS,
  encodeFrame,
  FrameDecoder,
  FrameHeaders,
  HELLO_LIMITS,
  HeaderWriter,
  makeFrame,
  makeHello,
  UNKNOWN_VERSION_ANSWER,
  type Frame,
} from '#wire';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { closeOf } from '../../../test/support/socket-end.ts';
import { dialChannel } from './channel-dialer.ts';
import { ChannelListener, type ChannelListenerOptions } from './channel-listener.ts';
import { channelSuite, type ChannelPair } from './channel-suite.ts';
import type { Channel } from './channel.ts';
import { openMemoryChannel } from './memory-driver.ts';

const authority = await makeTestAuthority();
const server = await authority.issue('server');
const client = await authority.issue('client');

type Overrides = Partial<Pick<ChannelListenerOptions, 'authorize' | 'allowGroups' | 'helloTimeoutMs'>>;

async function openListener(
  overrides: Overrides = {},
): Promise<{ listener: ChannelListener; accepted: Channel[] }> {
  const accepted: Channel[] = [];
  const listener = await ChannelListener.open({
    host: '127.0.0.1',
    port: 0,
    tls: server,
    alpn: ['ziti-test'],
    ownId: 'listener',
    allowGroups: true,
    log: silentLog,
    authorize: () => ({ accept: true }),
    onChannel: (channel) => void accepted.push(channel),
    ...overrides,
  });
  return { listener, accepted };
}

function dial(
  port: number,
  overrides: { tls?: typeof client; headers?: FrameHeaders } = {},
): Promise<Channel> {
  return dialChannel({
    host: '127.0.0.1',
    port,
    tls: overrides.tls ?? client,
    alpn: 'ziti-test',
    helloId: 'dialer',
    helloHeaders: overrides.headers ?? FrameHeaders.empty,
    timeoutMs: 30_000,
    log: silentLog,
  });
}

/** A raw TLS connection, for peers that do not keep to the protocol. */
function rawConnection(port: number, identity: { cert?: string; key?: string } = client): tls.TLSSocket {
  const socket = tls.connect({
    host: '127.0.0.1',
    port,
    ca: authority.ca,
    ALPNProtocols: ['ziti-test'],
    ...identity,
  });
  socket.on('error', () => {});
  return socket;
}

async function helloOn(
  port: number,
  headers: HeaderWriter,
): Promise<{ socket: tls.TLSSocket; answer: Frame | 'closed' }> {
  const socket = rawConnection(port);
  await once(socket, 'secureConnect');
  const decoder = new FrameDecoder(HELLO_LIMITS);
  socket.write(encodeFrame(makeHello('raw', headers.build(), 0)));
  const answer = await new Promise<Frame | 'closed'>((resolve) => {
    socket.on('close', () => resolve('closed'));
    socket.on('data', (chunk: Buffer) => void decoder.push(chunk, (frame) => resolve(frame)));
  });
  return { socket, answer };
}

channelSuite('memory', () => {
  const peer = { id: 'peer', hello: FrameHeaders.empty, fingerprint: '', address: 'memory' };
  const options = { id: 'pair', peer, log: silentLog };
  const [dialer, listener] = openMemoryChannel(options, options);
  return Promise.resolve({ dialer, listener, close: () => Promise.resolve(dialer.close('done')) });
});

channelSuite('TLS', async (): Promise<ChannelPair> => {
  const { listener, accepted } = await openListener();
  const dialer = await dial(listener.port);
  return {
    dialer,
    listener: accepted[0]!,
    close: async () => {
      dialer.close('done');
      await listener.close();
    },
  };
});

test('the hello answer carries the sequence of the hello, the ids and the group that was asked for', async () => {
  const { listener } = await openListener();
  const { socket, answer } = await helloOn(
    listener.port,
    new HeaderWriter()
      .text(CHANNEL_HEADERS.underlayType, 'edge.default')
      .bool(CHANNEL_HEADERS.isGrouped, true)
      .bool(CHANNEL_HEADERS.isFirstGroupConnection, true),
  );
  assert.ok(answer !== 'closed');
  assert.equal(answer.headers.i32(CHANNEL_HEADERS.replyFor), 0);
  assert.equal(answer.headers.bool(CHANNEL_HEADERS.resultSuccess), true);
  assert.equal(answer.headers.text(CHANNEL_HEADERS.id), 'listener');
  assert.equal(answer.headers.text(CHANNEL_HEADERS.underlayType), 'edge.default');
  assert.equal(answer.headers.bytes(CHANNEL_HEADERS.groupSecret)?.length, 16);
  socket.destroy();
  await listener.close();
});

test('a second connection joins its group with the right secret, and only with it', async () => {
  const { listener, accepted } = await openListener();
  const first = await helloOn(
    listener.port,
    new HeaderWriter()
      .bool(CHANNEL_HEADERS.isGrouped, true)
      .bool(CHANNEL_HEADERS.isFirstGroupConnection, true),
  );
  assert.ok(first.answer !== 'closed');
  const id = first.answer.headers.text(CHANNEL_HEADERS.connectionId)!;
  const secret = first.answer.headers.bytes(CHANNEL_HEADERS.groupSecret)!;
  const join = (key: Uint8Array, groupId = id): HeaderWriter =>
    new HeaderWriter()
      .text(CHANNEL_HEADERS.connectionId, groupId)
      .bool(CHANNEL_HEADERS.isGrouped, true)
      .bytes(CHANNEL_HEADERS.groupSecret, key);
  const second = await helloOn(listener.port, join(secret));
  assert.ok(second.answer !== 'closed');
  assert.equal(accepted.length, 1, 'a join opens no channel of its own');
  const wrong = await helloOn(listener.port, join(new Uint8Array(16)));
  assert.equal(wrong.answer, 'closed');
  const unknown = await helloOn(listener.port, join(secret, 'nobody'));
  assert.equal(unknown.answer, 'closed');

  const arrived: string[] = [];
  const both = new Promise<void>((resolve) => {
    accepted[0]!.handle({
      onFrame: (frame) => {
        arrived.push(Buffer.from(frame.body).toString());
        if (arrived.length === 2) resolve();
      },
    });
  });
  first.socket.write(encodeFrame(makeFrame(9, { body: 'first', sequence: 1 })));
  second.socket.write(encodeFrame(makeFrame(9, { body: 'second', sequence: 2 })));
  await both;
  assert.deepEqual(arrived.toSorted(), ['first', 'second']);
  first.socket.destroy();
  second.socket.destroy();
  await listener.close();
});

test('a refused hello is answered with the reason, or the connection is closed', async () => {
  const { listener } = await openListener({
    authorize: (hello) =>
      hello.headers.has(1002)
        ? { accept: false, log: 'no', answer: 'not today' }
        : { accept: false, log: 'no' },
  });
  const headers = new HeaderWriter().text(1002, 'token').build();
  await assert.rejects(
    dial(listener.port, { headers }),
    (error) => error instanceof FrontdoorError && error.kind === 'forbidden' && error.message === 'not today',
  );
  await assert.rejects(
    dial(listener.port),
    (error) => error instanceof FrontdoorError && error.code === 'channel-refused',
  );
  await listener.close();
});

test('a dialer does not talk to a server that another authority vouches for', async () => {
  const { listener } = await openListener();
  const other = await makeTestAuthority('another CA');
  const stranger = await other.issue('client');
  await assert.rejects(dial(listener.port, { tls: stranger }), FrontdoorError);
  await listener.close();
});

test('a peer without a certificate is closed before its hello is read', async () => {
  const { listener, accepted } = await openListener();
  const socket = rawConnection(listener.port, {});
  await closeOf(socket);
  assert.equal(accepted.length, 0);
  await listener.close();
});

test('a hello that never ends, or is too long, ends at the deadline or the bound', async () => {
  const { listener } = await openListener({ helloTimeoutMs: 300 });
  const silent = rawConnection(listener.port);
  const endless = rawConnection(listener.port);
  await Promise.all([once(silent, 'secureConnect'), once(endless, 'secureConnect')]);
  endless.write(encodeFrame(makeHello('x', FrameHeaders.empty)).subarray(0, 10));
  await Promise.all([closeOf(silent.resume()), closeOf(endless.resume())]);

  const long = rawConnection(listener.port);
  await once(long, 'secureConnect');
  const head = encodeFrame(makeFrame(0)).slice();
  new DataView(head.buffer).setUint32(12, 0x8000_0000, true);
  long.write(head);
  await closeOf(long.resume());
  await listener.close();
});

test('a peer of an unknown version is sent the versions and closed', async () => {
  const { listener } = await openListener();
  const socket = rawConnection(listener.port);
  await once(socket, 'secureConnect');
  socket.write(Uint8Array.of(3, 6, 9, 0x0f, 0, 0, 0, 0));
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await closeOf(socket);
  assert.deepEqual([...Buffer.concat(chunks)], [...UNKNOWN_VERSION_ANSWER]);
  await listener.close();
});

for (const [field, offset] of [
  ['headers', 12],
  ['body', 16],
] as const) {
  for (const length of [0x7fff_ffff, 0x8000_0000, 0xffff_ffff]) {
    test(`a frame whose ${field} claim ${length} bytes closes its channel alone, before memory is taken`, async () => {
      const { listener, accepted } = await openListener();
      const { socket } = await helloOn(listener.port, new HeaderWriter());
      const other = await dial(listener.port);
      const closed = new Promise<string>((resolve) =>
        accepted[0]!.handle({ onFrame: () => {}, onClose: resolve }),
      );
      accepted[1]!.handle({ onFrame: (frame) => void accepted[1]!.reply(frame, makeFrame(9)) });
      other.handle({ onFrame: () => {} });
      const frame = encodeFrame(makeFrame(9)).slice();
      new DataView(frame.buffer).setUint32(offset, length, true);
      const before = process.memoryUsage().arrayBuffers;
      socket.write(frame);
      assert.match(await closed, /too-long/);
      assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024);
      await other.request(makeFrame(9), 30_000);
      socket.destroy();
      other.close('done');
      await listener.close();
    });
  }
}
