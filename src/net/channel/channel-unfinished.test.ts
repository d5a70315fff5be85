// Peers that do not finish their frames, or open channels without end, at a real listener.
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { silentLog, type Log } from '#base';
import { contentType, encodeFrame, FrameHeaders, HeaderWriter, CHANNEL_HEADERS, makeFrame } from '#wire';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { until } from '../../../test/support/deadline.ts';
import { WirePeer } from '../../../test/support/wire-peer.ts';
import type { Channel } from './channel.ts';
import { ChannelListener, type ChannelListenerParts } from './channel-listener.ts';
import { UnfinishedFrames } from './unfinished-frames.ts';

const MIB = 1024 * 1024;
const authority = await makeTestAuthority();
const server = await authority.issue('server');
const credentials = await authority.issue('client');
const others = await authority.issue('others');

interface Warning {
  readonly identity?: unknown;
  readonly reason?: unknown;
}

async function listen(t: TestContext, parts: Partial<ChannelListenerParts> = {}) {
  const accepted: Channel[] = [];
  const warnings: Warning[] = [];
  const log: Log = { ...silentLog, warn: (fields) => void warnings.push(fields) };
  const listener = await ChannelListener.open({
    host: '127.0.0.1',
    port: 0,
    tls: server,
    alpn: ['ziti-edge'],
    ownId: 'listener',
    allowGroups: true,
    log,
    authorize: (_hello, peer) => ({ accept: true, identity: peer.id }),
    onChannel: (channel) => {
      channel.handle({ onFrame: () => {} });
      accepted.push(channel);
    },
    ...parts,
  });
  t.after(() => listener.close());
  const open = async (id: string, headers = FrameHeaders.empty, as = credentials): Promise<WirePeer> => {
    const peer = await WirePeer.open({ port: listener.port, alpn: 'ziti-edge', credentials: as });
    t.after(() => peer.close());
    const answer = await peer.hello(id, headers);
    if (answer?.headers.bool(CHANNEL_HEADERS.resultSuccess) === false) peer.close();
    return peer;
  };
  return { listener, accepted, warnings, open };
}

/** So much of a Data frame of 16 MiB. */
function beginning(bytes: number): Uint8Array {
  const frame = encodeFrame(makeFrame(contentType.data, { body: new Uint8Array(16 * MIB) }));
  return frame.subarray(0, bytes);
}

describe('frames that are not finished', () => {
  test('end their channel after the time they may take, and no other', async (t) => {
    const unfinished = new UnfinishedFrames({
      graceMs: 200,
      leastBytesPerS: 1_000_000,
      checkIntervalMs: 20,
    });
    const { open, warnings, accepted } = await listen(t, { unfinished });
    const hostile = await open('hostile');
    const quiet = await open('quiet');
    hostile.sendBytes(beginning(1_000));
    await hostile.closed();
    assert.equal(quiet.isClosed, false);
    assert.deepEqual(
      warnings.map(({ identity, reason }) => [identity, reason]),
      [['hostile', 'a frame was not complete in time']],
    );
    assert.equal(accepted.filter(({ isClosed }) => isClosed).length, 1);
  });

  test('of one identity hold what it may have, and then it loses channels; others send theirs whole', async (t) => {
    const unfinished = new UnfinishedFrames({ budgetBytes: 64 * MIB });
    const peerLimits = { maxUnfinishedBytes: 20 * MIB };
    const { open, accepted } = await listen(t, { unfinished, peerLimits });
    const hostile = await Promise.all(Array.from({ length: 8 }, () => open('hostile')));
    for (const peer of hostile) peer.sendBytes(beginning(4 * MIB));
    await until(
      'channels that were closed',
      () => hostile.filter(({ isClosed }) => isClosed).length,
      (count) => count >= 3,
    );
    assert.ok(unfinished.heldBytes <= 20 * MIB, `${unfinished.heldBytes} bytes`);
    const honest = await open('honest');
    let bytes = 0;
    accepted.at(-1)!.handle({ onFrame: ({ body }) => void (bytes += body.length) });
    honest.sendBytes(beginning(20 + 16 * MIB));
    await until(
      'a frame of 16 MiB',
      () => bytes,
      (came) => came === 16 * MIB,
    );
    assert.equal(honest.isClosed, false);
  });

  test('are not kept if their bodies are passed on in parts, however long they are', async (t) => {
    const unfinished = new UnfinishedFrames();
    let bytes = 0;
    const { open } = await listen(t, {
      unfinished,
      onChannel: (channel) =>
        channel.handle({ onFrame: () => {}, onBodyPart: (part) => void (bytes += part.bytes.length) }),
    });
    const peers = await Promise.all(Array.from({ length: 20 }, () => open('a')));
    for (const peer of peers) peer.sendBytes(beginning(MIB));
    const long = await open('b');
    long.sendBytes(encodeFrame(makeFrame(contentType.data, { body: new Uint8Array(20 * MIB) })));
    const headBytes = encodeFrame(makeFrame(contentType.data)).length;
    await until(
      'all parts',
      () => bytes,
      (came) => came === 20 * (MIB - headBytes) + 20 * MIB,
    );
    assert.ok(unfinished.heldBytes < MIB, `${unfinished.heldBytes} bytes`);
    assert.ok([...peers, long].every(({ isClosed }) => !isClosed));
  });

  test('are refused by their head where no message is so long', async (t) => {
    const { open } = await listen(t);
    const peer = await open('a');
    peer.sendBytes(encodeFrame(makeFrame(contentType.bind, { body: new Uint8Array(MIB) })).subarray(0, 20));
    await peer.closed();
  });
});

describe('the channels of one identity', () => {
  test('are counted: one more is refused with a reason, and logged with its name, until another ends', async (t) => {
    const { open, warnings, accepted } = await listen(t, { peerLimits: { maxChannels: 3 } });
    const peers = await Promise.all(Array.from({ length: 3 }, () => open('greedy')));
    const refused = await open('greedy');
    assert.match(Buffer.from(refused.frames[0]!.body).toString(), /has 3 channels here, which is the limit/);
    assert.deepEqual(
      warnings.map(({ identity }) => identity),
      ['greedy'],
    );
    const other = await open('other');
    assert.equal(other.isClosed, false);
    peers[0]!.close();
    await until(
      'the end of a channel',
      () => accepted.filter(({ isClosed }) => isClosed).length,
      (count) => count === 1,
    );
    await until(
      'a channel in its place',
      async () => (await open('greedy')).isClosed,
      (isClosed) => !isClosed,
    );
  });

  test('have so many connections together, and the channels that stand continue', async (t) => {
    const { open, accepted } = await listen(t, { peerLimits: { maxConnections: 3 } });
    const group = (isFirst: boolean, secret?: Uint8Array, id = ''): FrameHeaders => {
      const headers = new HeaderWriter()
        .text(CHANNEL_HEADERS.underlayType, 'default')
        .bool(CHANNEL_HEADERS.isGrouped, true);
      if (isFirst) headers.bool(CHANNEL_HEADERS.isFirstGroupConnection, true);
      else headers.text(CHANNEL_HEADERS.connectionId, id).bytes(CHANNEL_HEADERS.groupSecret, secret!);
      return headers.build();
    };
    const first = await open('a', group(true));
    const answer = first.frames[0]!.headers;
    const secret = answer.bytes(CHANNEL_HEADERS.groupSecret)!;
    const id = answer.text(CHANNEL_HEADERS.connectionId)!;
    const joined: WirePeer[] = [];
    for (let i = 0; i < 3; i += 1) joined.push(await open('a', group(false, secret, id)));
    assert.deepEqual(
      joined.map(({ isClosed }) => isClosed),
      [false, false, true],
    );
    assert.equal(accepted[0]!.underlays().length, 3);
    const stranger = await open('b', FrameHeaders.empty, others);
    assert.equal(stranger.isClosed, false);
  });
});
