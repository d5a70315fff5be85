// What OpenZiti's routers of 2.x do on the control channel and those of 1.x do not, as a script over TLS, frame by frame:
// hellos in groups, joins by priority, a comeback with the old secret. The frames are those of the vectors.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, afterEach, before, describe, test } from 'node:test';
import { hexOf } from '#base';
import { fingerprintOf, type TlsIdentity } from '#net/channel';
import {
  CHANNEL_HEADERS,
  contentType,
  encodeFrame,
  headerId,
  makeFrame,
  replyForOf,
  textOfBody,
  type Frame,
} from '#wire';
import { ctrlMessages, PeerState } from '#wire/ctrl';
import { until } from '../../../../test/support/deadline.ts';
import { vectorFrame, withHeaders } from '../../../../test/support/recorded-frames.ts';
import { WirePeer } from '../../../../test/support/wire-peer.ts';
import { OverlayWorld } from '../testing/overlay-world.ts';

const { channel: header, ctrlHelloResult } = headerId;
const SECRET_BYTES = 16;

describe('a router of 2.x at our control plane', () => {
  let world: OverlayWorld;
  let identity: TlsIdentity;
  const peers: WirePeer[] = [];

  before(async () => {
    world = await OverlayWorld.open();
    await world.start();
    identity = await world.certificate('r1');
    await world.addIdentity('r1', 'router', [fingerprintOf(new X509Certificate(identity.cert))]);
  });
  afterEach(async () => {
    for (const peer of peers.splice(0)) peer.close();
    await until('r1 away', isOnline, (is) => !is);
  });
  after(() => world.close());

  const isOnline = (): boolean => world.controller.fabric.routers().find(({ id }) => id === 'r1')!.isOnline;

  async function say(
    hello: Frame,
    credentials = identity,
  ): Promise<{ peer: WirePeer; answer: Frame | undefined }> {
    const { cert, key } = credentials;
    const peer = await WirePeer.open({
      port: world.controller.port,
      alpn: 'ziti-ctrl',
      credentials: { cert, key },
    });
    peers.push(peer);
    peer.sendBytes(encodeFrame(hello));
    await peer.until('an answer to the hello', () => peer.frames.length > 0 || peer.isClosed);
    return { peer, answer: peer.frames[0] };
  }

  const first = (): Promise<{ peer: WirePeer; answer: Frame | undefined }> =>
    say(vectorFrame('ctrl_hello_grouped'));

  /** The join of the vectors, with the group and the secret of an answer. */
  function joinOf(answer: Frame, type: string, more: readonly [number, Uint8Array][] = []): Frame {
    return withHeaders(
      vectorFrame('ctrl_hello_second_underlay'),
      new Map<number, Uint8Array | undefined>([
        [header.connectionId, answer.headers.bytes(header.connectionId)],
        [header.groupSecret, answer.headers.bytes(header.groupSecret)],
        [header.type, Buffer.from(type)],
        ...more,
      ]),
    );
  }

  test('its grouped hello is answered with a group, a secret, and capabilities that ask for one connection', async () => {
    const { answer } = await first();
    const { headers } = answer!;
    assert.equal(headers.i32(header.replyFor), -1);
    assert.equal(headers.bool(header.resultSuccess), true);
    assert.equal(headers.text(header.type), 'ctrl.default');
    assert.equal(headers.bool(header.isGrouped), true);
    assert.equal(headers.bytes(header.groupSecret)!.length, SECRET_BYTES);
    assert.notEqual(headers.text(header.connectionId), '');
    assert.equal(headers.text(header.id), 'ctrl1');
    assert.equal(headers.text(header.helloVersion)!.split('|').length, 5);
    // Bits 1, 2, 3, 4 and 6: without 6 it would leave, with 5 it would open ctrl.high.
    assert.equal(hexOf(headers.bytes(ctrlHelloResult.capabilities)!), '5e');
    const [router] = world.controller.fabric.routers();
    assert.deepEqual(
      [router!.isOnline, router!.version, router!.linkListeners.length],
      [true, 'v2.1.0', 1],
      'listeners of header 1000',
    );
  });

  test('connections by priority are one channel: any carries any message, requests are answered once', async () => {
    const { peer, answer } = await first();
    const joins = [];
    for (const type of ['ctrl.high', 'ctrl.low', 'ctrl.default']) {
      const joined = await say(joinOf(answer!, type));
      assert.equal(joined.answer!.headers.text(header.type), type);
      for (const id of [header.connectionId, header.groupSecret])
        assert.deepEqual(joined.answer!.headers.bytes(id), answer!.headers.bytes(id));
      joins.push(joined.peer);
    }
    const all = [peer, ...joins];
    for (const [index, each] of all.entries()) {
      const sequence = 100 + index;
      each.sendBytes(encodeFrame(makeFrame(contentType.ping, { sequence })));
      const answers = (): Frame[] =>
        all.flatMap(({ frames }) => frames.filter((frame) => replyForOf(frame) === sequence));
      await until('one answer', answers, ({ length }) => length === 1);
      assert.equal(textOfBody(answers()[0]!), 'ok');
    }
    const sequences = all.flatMap(({ frames }) => frames.slice(1)).map((frame) => frame.sequence);
    assert.equal(new Set(sequences).size, sequences.length, 'one counter for all connections');
    assert.equal(world.controller.fabric.routers().length, 1);
  });

  test('a join is recognized by group and secret, whether it claims to be the first or not', async () => {
    const { answer } = await first();
    const claims = await say(
      joinOf(answer!, 'ctrl.high', [[header.isFirstGroupConnection, Uint8Array.of(1)]]),
    );
    assert.equal(claims.answer!.headers.text(header.connectionId), answer!.headers.text(header.connectionId));
    assert.equal(claims.peer.isClosed, false);
  });

  test('a join with another secret, of an unknown group, or with another certificate is closed without an answer', async () => {
    const { peer, answer } = await first();
    const other = await world.certificate('r1');
    const wrong: readonly [string, Frame, TlsIdentity?][] = [
      ['another secret', joinOf(answer!, 'ctrl.high', [[header.groupSecret, new Uint8Array(SECRET_BYTES)]])],
      ['half a secret', joinOf(answer!, 'ctrl.high', [[header.groupSecret, new Uint8Array(8)]])],
      ['an unknown group', joinOf(answer!, 'ctrl.high', [[header.connectionId, Buffer.from('none')]])],
      ['another certificate', joinOf(answer!, 'ctrl.high'), other],
    ];
    for (const [what, hello, credentials] of wrong) {
      const refused = await say(hello, credentials);
      assert.equal(refused.answer, undefined, what);
      assert.equal(refused.peer.isClosed, true, what);
    }
    assert.equal(peer.isClosed, false);
    assert.equal(isOnline(), true);
  });

  test('it is connected while one connection is left, whichever that is', async () => {
    const { peer, answer } = await first();
    const high = await say(joinOf(answer!, 'ctrl.high'));
    peer.close();
    // Answered by what is left: until the loss is seen the answer may go where nobody is.
    await until(
      'an answer over ctrl.high',
      () => {
        high.peer.send(makeFrame(contentType.ping));
        return high.peer.frames.length;
      },
      (length) => length > 1,
    );
    assert.equal(isOnline(), true);
    high.peer.close();
    await until('r1 away', isOnline, (is) => !is);
  });

  test('after losing all connections it comes back at once under a new group with the old secret', async () => {
    const { peer, answer } = await first();
    const secret = answer!.headers.bytes(header.groupSecret)!.slice();
    const group = answer!.headers.text(header.connectionId)!;
    const again = (n: number): Frame =>
      withHeaders(
        vectorFrame('ctrl_hello_grouped'),
        new Map([
          [header.connectionId, Buffer.from(`${group}-${n}`)],
          [header.groupSecret, secret],
        ]),
      );
    peer.close();
    await until('r1 away', isOnline, (is) => !is);
    for (const n of [1, 2]) {
      const back = await say(again(n));
      const { headers } = back.answer!;
      assert.equal(headers.text(header.connectionId), `${group}-${n}`);
      assert.deepEqual(headers.bytes(header.groupSecret), secret);
      assert.equal(isOnline(), true);
      const joined = await say(joinOf(back.answer!, 'ctrl.low'));
      assert.equal(joined.answer!.headers.bool(header.resultSuccess), true);
      for (const each of [back.peer, joined.peer]) each.close();
      await until('r1 away', isOnline, (is) => !is);
    }
  });

  test('while its first channel stands, a second one of its own is refused with the reason', async () => {
    const { peer } = await first();
    const asked = first();
    // The controller asks the first one for a sign of life, with a time that no heartbeat of its own has.
    const isQuestion = ({ headers }: Frame) => headers.u64(CHANNEL_HEADERS.heartbeat) === 0n;
    await peer.until('the question', () => peer.frames.some(isQuestion));
    peer.sendBytes(encodeFrame(makeFrame(contentType.ping, { sequence: 100 })));
    const second = await asked;
    assert.equal(second.answer!.headers.bool(header.resultSuccess), false);
    assert.match(textOfBody(second.answer!), /connected already/);
    await second.peer.closed();
    assert.equal(isOnline(), true);
  });

  test('changed link listeners, announced over any connection, reach other routers', async () => {
    const other = await world.router('r2');
    const { answer } = await first();
    await other.next('peerStateChanges');
    const low = await say(joinOf(answer!, 'ctrl.low'));
    const listeners = [
      { address: 'tls:elsewhere:6001', protocol: 'tls', groups: ['default'], localBinding: '' },
    ];
    low.peer.send(ctrlMessages.updateLinkListeners.frame({ listeners }));
    const { changes } = await other.next('peerStateChanges');
    assert.deepEqual(
      [changes[0]!.id, changes[0]!.state, changes[0]!.version, changes[0]!.listeners[0]!.address],
      ['r1', PeerState.HEALTHY, 'v2.1.0', 'tls:elsewhere:6001'],
    );
    other.channel.close('test over');
  });
});
