// What strangers and enrolled routers can do over a link: end it, and spoil their own circuits; nothing else.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { base62 } from '#base';
import {
  contentType,
  encodeFrame,
  headerId,
  HeaderWriter,
  LATENCY_TYPE,
  makeFrame,
  makeHello,
  RESULT_TYPE,
  traceRequest,
  type Frame,
  type FrameHeaders,
} from '#wire';
import {
  AcknowledgementFrame,
  encodeAcknowledgement,
  encodePayloadHead,
  PAYLOAD_FLAGS,
  PayloadFrame,
  type DataFrame,
} from '#wire/xgress';
import { ctrlMessages, DestType, FaultSubject } from '#wire/ctrl';
import { until } from '../support/deadline.ts';
import { usedMemory } from '../support/heap.ts';
import { BROKEN_FRAMES } from '../support/hostile-bytes.ts';
import { openHostileMesh, type HostileMesh } from '../support/hostile-mesh.ts';
import { linkHelloHeaders, type LinkHelloFacts } from '../support/hostile-router.ts';
import { WirePeer } from '../support/wire-peer.ts';
import type { LogRecord } from '../support/recording-log.ts';

/** Honest peers need a moment too, on a busy machine. */
const HELLO_TIMEOUT_MS = 5_000;
const { channel } = headerId;
const { originator, circuitStart, circuitEnd, eof, writeFailed, retransmit } = PAYLOAD_FLAGS;

let mesh: HostileMesh;
before(async () => {
  mesh = await openHostileMesh({ helloTimeoutMs: HELLO_TIMEOUT_MS });
});
after(async () => {
  await mesh?.close();
});

function openPeer(): Promise<WirePeer> {
  const { credentials } = mesh.hostile.identity;
  return WirePeer.open({ port: mesh.ports.link, alpn: 'ziti-link', credentials });
}

function newFacts(more: Partial<LinkHelloFacts> = {}): Omit<LinkHelloFacts, 'routerId'> {
  return { linkId: base62(randomBytes(16)), dialedRouterId: mesh.target.id, ...more };
}

/** A link of the hostile router that the target has taken in. */
function openLink(facts = newFacts()): Promise<WirePeer> {
  return mesh.hostile.link(mesh.ports.link, facts);
}

/** The same, and a circuit that a controller led over it. */
async function openCircuit(): Promise<{
  readonly peer: WirePeer;
  readonly circuitId: string;
  close(): void;
}> {
  const facts = newFacts();
  const peer = await openLink(facts);
  mesh.hostile.report(facts.linkId, mesh.target.id);
  const { value } = await until(
    'a circuit over the hostile link',
    () => mesh.hostile.lure(mesh.ports.trap, 1_000),
    () => true,
  );
  const { client, circuitId } = value;
  const close = (): void => {
    client.destroy();
    peer.close();
  };
  return { peer, circuitId, close };
}

async function assertAlive(peer: WirePeer): Promise<void> {
  assert.equal((await peer.ask(makeFrame(LATENCY_TYPE))).contentType, RESULT_TYPE);
}

/** Nobody else has noticed: the circuits continue, and nothing failed that is ours. */
async function assertUnharmed(): Promise<void> {
  await mesh.circuits.goOn(3);
  assert.deepEqual(mesh.circuits.errors, []);
  const failures = [...mesh.records, ...mesh.world.records].filter(({ level }) => level === 'error');
  assert.deepEqual(failures, []);
}

async function oneRecord(records: () => LogRecord[], message: string): Promise<LogRecord> {
  const found = (): LogRecord[] => records().filter((record) => record.message === message);
  await until(`the log record "${message}"`, found, (value) => value.length > 0);
  assert.equal(found().length, 1, JSON.stringify(found()));
  return found()[0]!;
}

function dataBytes(frame: DataFrame): Uint8Array {
  if (frame instanceof AcknowledgementFrame) return encodeAcknowledgement(frame, 1);
  return Buffer.concat([encodePayloadHead(frame, 1), frame.data]);
}

async function sendAll(peer: WirePeer, frames: readonly Uint8Array[]): Promise<void> {
  if (peer.socket.write(Buffer.concat(frames))) return;
  await until('room to write', () => peer.isClosed || !peer.socket.writableNeedDrain, Boolean);
}

describe('a stranger at a link listener', () => {
  for (const [name, bytes] of BROKEN_FRAMES) {
    it(`is cut off for a hello that is ${name}`, async () => {
      const records = mesh.recordsFromNow();
      const peer = await openPeer();
      peer.sendBytes(bytes);
      await peer.closed();
      await oneRecord(records, 'malformed hello, connection closed');
      peer.close();
    });
  }

  it('is cut off when its hello comes byte by byte, ever so slowly', async () => {
    const records = mesh.recordsFromNow();
    const facts = { ...newFacts(), routerId: mesh.hostile.identity.id };
    const hello = encodeFrame(makeHello(facts.linkId, linkHelloHeaders(facts)));
    const peer = await openPeer();
    let at = 0;
    const trickle = setInterval(() => peer.sendBytes(hello.subarray(at, (at += 1))), HELLO_TIMEOUT_MS / 10);
    await peer.closed().finally(() => clearInterval(trickle));
    assert.ok(at < hello.length);
    await oneRecord(records, 'no hello in time, connection closed');
  });

  it('is cut off when its first frame is no hello', async () => {
    const records = mesh.recordsFromNow();
    for (const frame of [makeFrame(LATENCY_TYPE), makeFrame(contentType.payload), makeFrame(-33)]) {
      const peer = await openPeer();
      peer.send(frame);
      await peer.closed();
    }
    const found = records().filter(
      ({ message }) => message === 'first frame was not a hello, connection closed',
    );
    assert.equal(found.length, 3);
  });
});

describe('an enrolled router on a link', () => {
  for (const [name, bytes] of BROKEN_FRAMES) {
    it(`loses it for a frame that is ${name}`, async () => {
      const peer = await openLink();
      const records = mesh.recordsFromNow();
      peer.sendBytes(bytes);
      await peer.closed();
      await oneRecord(records, 'malformed frame, channel closed');
      await oneRecord(records, 'link closed');
      peer.close();
    });
  }

  it('cannot give orders: Route, Unroute, faults and a second hello have no effect', async () => {
    const peer = await openLink();
    const circuitIds = await mesh.foreignCircuitIds();
    const linkIds = await mesh.foreignLinkIds();
    assert.ok(circuitIds.length >= 4 && linkIds.length > 0);
    const count = mesh.target.circuitCount;
    const forwards = [{ srcAddress: linkIds[0]!, dstAddress: 'elsewhere', dstType: DestType.LINK }];
    const facts = { ...newFacts(), routerId: mesh.hostile.identity.id };
    const orders: Frame[] = [
      ...['made-up', ...circuitIds].flatMap((circuitId) => [
        ctrlMessages.route.frame({ circuitId, forwards }),
        ctrlMessages.unroute.frame({ circuitId, now: true }),
        ...[FaultSubject.INGRESS_FAULT, FaultSubject.EGRESS_FAULT, FaultSubject.FORWARD_FAULT].map(
          (subject) => ctrlMessages.fault.frame({ subject, id: circuitId }),
        ),
        makeFrame(contentType.xgClose, { body: circuitId }),
      ]),
      ...linkIds.map((id) => ctrlMessages.fault.frame({ subject: FaultSubject.LINK_FAULT, id })),
      makeFrame(contentType.connect, { body: 'token' }),
      makeFrame(contentType.inspectRequest, { body: Uint8Array.of(1, 2, 3) }),
      makeFrame(4_242, { body: 'of an unknown type' }),
      makeHello(facts.linkId, linkHelloHeaders(facts)),
    ];
    for (const frame of orders) peer.send(frame);
    await assertAlive(peer);
    await assertUnharmed();
    assert.equal(mesh.target.circuitCount, count);
    assert.deepEqual(await mesh.foreignCircuitIds(), circuitIds);
    assert.deepEqual(await mesh.foreignLinkIds(), linkIds);
    peer.close();
  });

  it("cannot touch a circuit that does not go over it: payloads, acknowledgements and traces of others' are dropped", async () => {
    const peer = await openLink();
    const circuitIds = await mesh.foreignCircuitIds();
    for (const id of circuitIds) {
      const frames: Uint8Array[] = [];
      for (const flags of [0, originator]) {
        for (const extra of [0, circuitStart, eof, circuitEnd, writeFailed, retransmit]) {
          for (let sequence = 0; sequence < 200; sequence += 1)
            frames.push(dataBytes(new PayloadFrame(id, sequence, flags | extra, Buffer.from('stolen'))));
        }
        for (const window of [0, 0xffff_ffff])
          frames.push(
            dataBytes(new AcknowledgementFrame(id, flags, window, [...Array(1_000).keys()])),
            dataBytes(new AcknowledgementFrame(id, flags, window, [])),
          );
      }
      for (const hops of [0, 1, 7]) frames.push(encodeFrame(traceRequest(id, hops, 1, 1n)));
      await sendAll(peer, frames);
    }
    await assertAlive(peer);
    await assertUnharmed();
    assert.deepEqual(await mesh.foreignCircuitIds(), circuitIds);
    assert.ok(peer.frames.every((frame) => frame.contentType !== contentType.payload));
    peer.close();
  });

  it('cannot take the place of another router’s link by its id', async () => {
    const [linkId] = await mesh.foreignLinkIds();
    const records = mesh.recordsFromNow();
    await assert.rejects(async () => {
      const peer = await openLink(newFacts({ linkId: linkId! }));
      // Were it taken in, the circuits of the other link would come here.
      await peer.until(
        'a payload',
        () => peer.frames.some(({ contentType: type }) => type === contentType.payload),
        1_000,
      );
    }, /closed instead of an answer/);
    const { fields } = await oneRecord(records, 'link refused');
    assert.equal(fields['reason'], 'another router has a link of this id');
    await assertUnharmed();
  });

  it('cannot have more links than any router needs', async () => {
    const peers: WirePeer[] = [];
    const records = mesh.recordsFromNow();
    const isRefused = (): boolean =>
      records().some(({ fields }) => fields['reason'] === 'the router has too many links');
    for (let at = 0; at < 200 && !isRefused(); at += 1) {
      // Each link has another dialer, so none is a duplicate.
      await openLink(newFacts({ binding: `dialer-${at}` })).then(
        (peer) => peers.push(peer),
        () => {},
      );
    }
    assert.ok(isRefused());
    assert.ok(peers.length >= 16 && peers.length < 200, `${peers.length} links`);
    await assertUnharmed();
    for (const peer of peers) peer.close();
    await until(
      'its links to be gone',
      () => mesh.target.linkCount,
      (count) => count <= 4,
    );
  });

  it('cannot add connections to a link without end', async () => {
    const facts = newFacts();
    const routerId = mesh.hostile.identity.id;
    const helloWith = (more: HeaderWriter): FrameHeaders =>
      more
        .bool(channel.isGrouped, true)
        .copy(linkHelloHeaders({ ...facts, routerId }))
        .build();
    const first = await openPeer();
    const begin = new HeaderWriter().bool(channel.isFirstGroupConnection, true);
    const answer = await first.hello(facts.linkId, helloWith(begin));
    const secret = answer!.headers.bytes(channel.groupSecret)!;
    const records = mesh.recordsFromNow();
    const peers = [first];
    for (let at = 0; at < 300 && peers.every(({ isClosed }) => !isClosed); at += 1) {
      const peer = await openPeer();
      peers.push(peer);
      await peer.hello(facts.linkId, helloWith(new HeaderWriter().bytes(channel.groupSecret, secret)));
    }
    assert.equal(peers.length, 257);
    const { fields } = await oneRecord(records, 'join of a channel refused');
    assert.equal(fields['reason'], 'the channel has too many connections');
    await assertAlive(first);
    for (const peer of peers) peer.close();
    await assertUnharmed();
  });

  it('opens no circuit by 100,000 payloads that begin one', async () => {
    const peer = await openLink();
    const count = mesh.target.circuitCount;
    const memory = await usedMemory();
    for (let from = 0; from < 100_000; from += 1_000) {
      const frames = Array.from({ length: 1_000 }, (_, at) =>
        dataBytes(new PayloadFrame(`${from + at}`.padEnd(64, 'x'), 0, circuitStart, Buffer.from('made up'))),
      );
      await sendAll(peer, frames);
    }
    await assertAlive(peer);
    assert.equal(mesh.target.circuitCount, count);
    const grown = (await usedMemory()) - memory;
    assert.ok(grown < 16 << 20, `memory grew by ${(grown / (1 << 20)).toFixed(1)} MiB`);
    await assertUnharmed();
    peer.close();
  });
});

describe('an enrolled router with a circuit on its link', () => {
  it('is kept to the window: payloads beyond it, ahead of it or sent again fill no memory', async () => {
    const { peer, circuitId, close } = await openCircuit();
    const memory = await usedMemory();
    const data = new Uint8Array(15_000);
    const send = (sequences: readonly number[]): Promise<void> =>
      sendAll(
        peer,
        sequences.map((sequence) => dataBytes(new PayloadFrame(circuitId, sequence, originator, data))),
      );
    await send([0x7fff_fffe]);
    for (let from = 1; from < 8_000; from += 200) {
      await send(Array.from({ length: 200 }, (_, at) => from + at));
      peer.frames.length = 0;
    }
    await send(Array.from({ length: 500 }, () => 0));
    await assertAlive(peer);
    const grown = (await usedMemory()) - memory;
    assert.ok(grown < 24 << 20, `memory grew by ${(grown / (1 << 20)).toFixed(1)} MiB`);
    await assertUnharmed();
    close();
  });

  it('gains nothing by acknowledging what was never sent', async () => {
    const { peer, circuitId, close } = await openCircuit();
    const sequences = Array.from({ length: 1_024 }, (_, at) => at * 1_000 - 5);
    for (let i = 0; i < 50; i += 1)
      peer.sendBytes(
        dataBytes(new AcknowledgementFrame(circuitId, originator, i % 2 === 0 ? 0 : 0xffff_ffff, sequences)),
      );
    await assertAlive(peer);
    await assertUnharmed();
    close();
  });

  it('leaves nothing behind when it goes', async () => {
    const { close } = await openCircuit();
    close();
    await until(
      'its circuits and links to be gone',
      () => [mesh.target.circuitCount, mesh.target.linkCount],
      ([circuits, links]) => circuits! <= 4 && links! <= 2,
      30_000,
    );
    await assertUnharmed();
  });
});
