// What strangers and enrolled identities can do to a router's edge listener: end their own connection, nothing else.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { silentLog } from '#base';
import { OverlayClient, type Circuit } from '#sdk';
import {
  contentType,
  encodeFrame,
  HeaderWriter,
  headerId,
  LATENCY_TYPE,
  makeFrame,
  RESULT_TYPE,
  textOfBody,
  type Frame,
} from '#wire';
import {
  AcknowledgementFrame,
  encodeAcknowledgement,
  encodePayloadHead,
  PAYLOAD_FLAGS,
  PayloadFrame,
  type DataFrame,
} from '#wire/xgress';
import { startCanary, type Canary } from '../support/canary.ts';
import { makeTestAuthority } from '../support/certificates.ts';
import { until } from '../support/deadline.ts';
import { usedMemory } from '../support/heap.ts';
import { BROKEN_FRAMES } from '../support/hostile-bytes.ts';
import { startHttpService, type FaultyService } from '../support/faulty-service.ts';
import { edgeHelloHeaders, WirePeer, type WireCredentials } from '../support/wire-peer.ts';
import type { LogRecord } from '../support/recording-log.ts';
import { openWorld, type World, type WorldIdentity } from '../support/world.ts';

const { edge } = headerId;
const PAGE = 'x'.repeat(2_000);
const REQUEST = 'GET /mine HTTP/1.1\r\nHost: secret\r\nConnection: close\r\n\r\n';
const DIAL_MS = 30_000;
const MAX_GROWN_MIB = 48;

let world: World;
let service: FaultyService;
let requests: string[];
let attacker: WorldIdentity;
let victim: WorldIdentity;
let victimOverlay: OverlayClient;
let secretId: string;
let canary: Canary;

before(async () => {
  requests = [];
  service = await startHttpService((request, response) => {
    requests.push(request.url ?? '');
    response.end(PAGE);
  });
  world = await openWorld();
  attacker = await world.enrollEnvironment('attacker');
  victim = await world.enrollEnvironment('victim');
  const agent = await world.startAgent('site');
  await agent.share(service.target, { name: 'canary' });
  const grants = [attacker.id, victim.id];
  const { share } = await agent.share(service.target, { name: 'secret', mode: 'private', grants });
  assert.equal(share.name, 'secret');
  victimOverlay = new OverlayClient({ api: victim.api, log: silentLog, name: 'victim' });
  secretId = (await victim.api.serviceByName('secret'))!.id;
  canary = startCanary(world.up.httpPort, 'canary.share.localhost', '/', PAGE.length);
});

after(async () => {
  try {
    await canary?.stop(50);
  } finally {
    victimOverlay?.close();
    await world?.close();
    await service.stop();
  }
});

function openPeer(credentials?: WireCredentials): Promise<WirePeer> {
  const { edgePort: port } = world.up.router;
  return WirePeer.open({ port, alpn: 'ziti-edge', credentials });
}

/** A channel of the attacker, hello done. */
async function openChannel(who = attacker): Promise<WirePeer> {
  const peer = await openPeer(who.credentials);
  const answer = await peer.hello(who.id, edgeHelloHeaders(who.sessionToken));
  assert.equal(answer?.contentType, RESULT_TYPE);
  assert.equal(answer.headers.bool(headerId.channel.resultSuccess), true);
  return peer;
}

async function assertAlive(peer: WirePeer): Promise<void> {
  const answer = await peer.ask(makeFrame(LATENCY_TYPE));
  assert.equal(answer.contentType, RESULT_TYPE);
}

/** The one record with this message that came from now on. */
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

/** A circuit of the attacker's own to the private share. */
async function openCircuit(peer: WirePeer): Promise<string> {
  const { token } = await attacker.api.createSession(secretId, 'Dial');
  const headers = new HeaderWriter().u32(edge.connId, 7).bool(edge.useXgressToSdk, true);
  const answer = await peer.ask(makeFrame(contentType.connect, { headers, body: token }));
  assert.equal(answer.contentType, contentType.stateConnected, textOfBody(answer));
  return answer.headers.text(edge.circuitId)!;
}

/** One request over a circuit, to the end of its answer. */
function askOver(circuit: Circuit): Promise<string> {
  const ended = Promise.withResolvers<string>();
  let text = '';
  circuit.onData = (bytes) => void (text += Buffer.from(bytes).toString('latin1'));
  circuit.onEnd = () => circuit.end();
  circuit.onClose = () => ended.resolve(text);
  circuit.resume();
  circuit.write(Buffer.from(REQUEST));
  return ended.promise;
}

/** Frames on their way between parts of a busy machine count as memory until they have arrived. */
async function givenBack(before: number): Promise<void> {
  await until(
    'memory that grew by less, in MiB',
    async () => ((await usedMemory()) - before) / (1 << 20),
    (grown) => grown < MAX_GROWN_MIB,
  );
}

describe('a stranger at the edge listener', () => {
  for (const [name, bytes] of BROKEN_FRAMES) {
    it(`is cut off for a hello that is ${name}`, async () => {
      const records = world.recordsFromNow();
      const peer = await openPeer(attacker.credentials);
      peer.sendBytes(bytes);
      await peer.closed();
      const record = await oneRecord(records, 'malformed hello, connection closed');
      assert.match(
        String(record.fields['fault']),
        /^(?:bad-magic|headers-too-long|body-too-long|bad-headers)$/,
      );
      peer.close();
    });
  }

  it('is cut off when its hello never ends', async () => {
    const records = world.recordsFromNow();
    const peer = await openPeer(attacker.credentials);
    const whole = new Uint8Array(4_000);
    whole.set(Uint8Array.of(3, 6, 9, 0x0c, 0, 0, 0, 0, 1, 0, 0, 0, 0xa0, 0x0f));
    let at = 14;
    peer.sendBytes(whole.subarray(0, at));
    const trickle = setInterval(() => peer.sendBytes(whole.subarray(at, (at += 1))), 100);
    try {
      await peer.closed();
    } finally {
      clearInterval(trickle);
    }
    await oneRecord(records, 'no hello in time, connection closed');
  });

  it('is cut off when it never begins the TLS handshake', async () => {
    const records = world.recordsFromNow();
    const socket = connect(world.up.router.edgePort, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    await until('the end of the connection', () => socket.closed, Boolean);
    await oneRecord(records, 'TLS handshake failed');
  });

  it('is turned away without a certificate', async () => {
    const records = world.recordsFromNow();
    const peer = await openPeer();
    await peer.closed();
    await oneRecord(records, 'refused a peer without a certificate');
  });

  it('is turned away with a certificate of another authority, even with a valid token', async () => {
    const records = world.recordsFromNow();
    const foreign = await (await makeTestAuthority()).issue(attacker.id);
    const peer = await openPeer({ cert: foreign.cert, key: foreign.key });
    const answer = await peer.hello(attacker.id, edgeHelloHeaders(attacker.sessionToken));
    assert.equal(textOfBody(answer!), 'not authorized');
    await peer.closed();
    const record = await oneRecord(records, 'channel refused');
    assert.match(String(record.fields['reason']), /^certificate is not that of session/);
  });

  it("is turned away with someone else's token and its own certificate", async () => {
    const records = world.recordsFromNow();
    const peer = await openPeer(attacker.credentials);
    const answer = await peer.hello(victim.id, edgeHelloHeaders(victim.sessionToken));
    assert.equal(textOfBody(answer!), 'not authorized: the session belongs to another certificate');
    await peer.closed();
    const record = await oneRecord(records, 'channel refused');
    assert.match(String(record.fields['reason']), /^certificate is not that of session/);
    assert.match(String(record.fields['identity']), new RegExp(attacker.id));
    assert.doesNotMatch(JSON.stringify(records()), new RegExp(victim.sessionToken));
  });

  it('gets a refusal when its token is unknown', async () => {
    const records = world.recordsFromNow();
    const peer = await openPeer(attacker.credentials);
    const answer = await peer.hello(attacker.id, edgeHelloHeaders('made-up'));
    assert.equal(answer?.headers.bool(headerId.channel.resultSuccess), false);
    await peer.closed();
    await oneRecord(records, 'channel refused');
  });

  it('is cut off when its first frame is no hello, or a hello without a token', async () => {
    const records = world.recordsFromNow();
    const first = await openPeer(attacker.credentials);
    first.send(makeFrame(contentType.connect, { body: 'x' }));
    await first.closed();
    await oneRecord(records, 'first frame was not a hello, connection closed');
    const second = await openPeer(attacker.credentials);
    const answer = await second.hello(attacker.id, new HeaderWriter().build());
    assert.equal(answer?.headers.bool(headerId.channel.resultSuccess), false);
    await second.closed();
    await oneRecord(records, 'channel refused');
  });
});

describe('an enrolled identity at the edge listener', () => {
  for (const [name, bytes] of BROKEN_FRAMES) {
    it(`loses its channel for a frame that is ${name}`, async () => {
      const records = world.recordsFromNow();
      const peer = await openChannel();
      await assertAlive(peer);
      peer.sendBytes(bytes);
      await peer.closed();
      const record = await oneRecord(records, 'malformed frame, channel closed');
      assert.equal(record.fields['peer'], attacker.id);
      peer.close();
    });
  }

  it('causes nothing by messages of unknown types, nor by answers without a request', async () => {
    const peer = await openChannel();
    const headers = new HeaderWriter().u32(1, 4_711).u32(edge.connId, 9).build();
    const useless = [
      makeFrame(4_242, { headers }),
      makeFrame(0x7fff_ffff, { headers }),
      makeFrame(-1, { headers }),
      makeFrame(contentType.dialSuccess, { headers, body: Uint8Array.of(9, 0, 0, 0) }),
      makeFrame(contentType.dialFailed, { headers, body: 'no' }),
      makeFrame(contentType.stateConnected, { headers }),
      makeFrame(contentType.stateClosed, { headers }),
      makeFrame(contentType.bindSuccess, { headers }),
      makeFrame(contentType.edgeHealthEvent, { headers }),
      makeFrame(contentType.updateBind, { headers }),
      makeFrame(contentType.xgClose, { body: 'nothing' }),
      makeFrame(contentType.xgClose, { body: new Uint8Array(100_000) }),
      // No connection id at all.
      ...[contentType.connect, contentType.bind, contentType.unbind, contentType.data].map((type) =>
        makeFrame(type),
      ),
    ];
    for (const frame of useless) peer.send(frame);
    await assertAlive(peer);
    peer.close();
  });

  it('gets an error for a connection id that is not its own, or not allowed', async () => {
    const peer = await openChannel();
    const on = (connId: number): HeaderWriter => new HeaderWriter().u32(edge.connId, connId);
    const data = makeFrame(contentType.data, { headers: on(99), body: 'hello' });
    peer.send(data);
    const closed = (frame: Frame): boolean => frame.contentType === contentType.stateClosed;
    await peer.until('StateClosed', () => peer.frames.some(closed));
    assert.equal(peer.frames.find(closed)?.headers.u32(edge.connId), 99);
    for (const type of [contentType.connect, contentType.bind]) {
      const answer = await peer.ask(makeFrame(type, { headers: on(0x8000_0001), body: 'token' }));
      assert.equal(answer.contentType, contentType.stateClosed);
      assert.match(textOfBody(answer), /out of range/);
    }
    await assertAlive(peer);
    peer.close();
  });

  it('cannot dial or host with a made-up session, nor with its login token', async () => {
    const peer = await openChannel();
    let connId = 20;
    for (const token of ['', 'made-up', attacker.sessionToken, 'x'.repeat(100_000)]) {
      const headers = new HeaderWriter().u32(edge.connId, (connId += 1));
      const answer = await peer.ask(makeFrame(contentType.connect, { headers, body: token }));
      assert.equal(answer.contentType, contentType.stateClosed);
      const bindId = (connId += 1);
      peer.send(
        makeFrame(contentType.bind, { headers: new HeaderWriter().u32(edge.connId, bindId), body: token }),
      );
      const isRefusal = (frame: Frame): boolean =>
        frame.contentType === contentType.stateClosed && frame.headers.u32(edge.connId) === bindId;
      await peer.until('the refusal of the bind', () => peer.frames.some(isRefusal));
    }
    await assertAlive(peer);
    peer.close();
  });

  it('opens no circuit, and holds no memory, by 50,000 dials', async () => {
    const peer = await openChannel();
    const memory = await usedMemory();
    for (let from = 0; from < 50_000; from += 1_000) {
      const dials = Array.from({ length: 1_000 }, (_, at) => {
        const headers = new HeaderWriter().u32(edge.connId, 1_000 + from + at);
        return encodeFrame(
          makeFrame(contentType.connect, { headers, body: 'made-up', sequence: 1 + from + at }),
        );
      });
      if (!peer.socket.write(Buffer.concat(dials)))
        await until('room to write', () => !peer.socket.writableNeedDrain, Boolean);
      peer.frames.length = 0;
    }
    await assertAlive(peer);
    peer.frames.length = 0;
    // The canary's, which may just be dialed again, its two standby circuits, and one by which the control plane looks
    // at a share now and then.
    await until(
      'no other circuits',
      () => world.up.router.circuitCount,
      (count) => count <= 4,
    );
    await givenBack(memory);
    peer.close();
  });

  it("cannot touch someone else's circuit", async () => {
    const circuit = await victimOverlay.dial(secretId, DIAL_MS);
    const peer = await openChannel();
    for (const flags of [0, PAYLOAD_FLAGS.originator]) {
      for (const extra of [0, PAYLOAD_FLAGS.eof, PAYLOAD_FLAGS.circuitEnd, PAYLOAD_FLAGS.writeFailed]) {
        for (let sequence = 0; sequence < 5; sequence += 1) {
          const data = Buffer.from('GET /stolen HTTP/1.1\r\nHost: secret\r\n\r\n');
          peer.sendBytes(dataBytes(new PayloadFrame(circuit.id, sequence, flags | extra, data)));
        }
      }
      peer.sendBytes(dataBytes(new AcknowledgementFrame(circuit.id, flags, 0xffff_ffff, [0, 1, 2, 3])));
    }
    peer.send(makeFrame(contentType.xgClose, { body: circuit.id }));
    await assertAlive(peer);
    const answer = await askOver(circuit);
    assert.ok(answer.endsWith(PAGE), answer.slice(0, 300));
    assert.ok(!requests.includes('/stolen'));
    peer.close();
  });

  it('gets its own request served once, however often it sends it', async () => {
    const peer = await openChannel();
    const circuitId = await openCircuit(peer);
    const before = requests.filter((path) => path === '/mine').length;
    const payload = new PayloadFrame(circuitId, 0, PAYLOAD_FLAGS.circuitStart, Buffer.from(REQUEST));
    for (let i = 0; i < 50; i += 1) peer.sendBytes(dataBytes(payload));
    const isPayload = (frame: Frame): boolean =>
      frame.contentType === contentType.payload && frame.body.length > 0;
    await peer.until('the answer', () => peer.frames.some(isPayload));
    for (let i = 0; i < 50; i += 1) peer.sendBytes(dataBytes(payload));
    await assertAlive(peer);
    assert.equal(requests.filter((path) => path === '/mine').length, before + 1);
    peer.close();
  });

  it('gains nothing by acknowledging what was never sent', async () => {
    const peer = await openChannel();
    const circuitId = await openCircuit(peer);
    const sequences = Array.from({ length: 1_024 }, (_, i) => i * 1_000 - 5);
    for (let i = 0; i < 50; i += 1) {
      peer.sendBytes(
        dataBytes(new AcknowledgementFrame(circuitId, 0, i % 2 === 0 ? 0 : 0xffff_ffff, sequences)),
      );
    }
    const payload = new PayloadFrame(circuitId, 0, PAYLOAD_FLAGS.circuitStart, Buffer.from(REQUEST));
    peer.sendBytes(dataBytes(payload));
    const isPayload = (frame: Frame): boolean =>
      frame.contentType === contentType.payload && frame.body.length > 0;
    await peer.until('the answer', () => peer.frames.some(isPayload));
    await assertAlive(peer);
    peer.close();
  });

  for (const [name, bytes] of [
    ['empty', 0],
    ['large', 60_000],
  ] as const) {
    it(`cannot make its host keep ${name} payloads that never come in order`, async () => {
      const peer = await openChannel();
      const circuitId = await openCircuit(peer);
      const memory = await usedMemory();
      const data = new Uint8Array(bytes);
      // The highest first: everything below it looks like a gap being filled.
      peer.sendBytes(dataBytes(new PayloadFrame(circuitId, 0x7fff_fffe, PAYLOAD_FLAGS.circuitStart, data)));
      // 2,000 of the large ones are 120 MB, more than twice what the process may grow by.
      const count = bytes === 0 ? 100_000 : 2_000;
      for (let from = 1; from < count; from += 500) {
        const batch = Array.from({ length: 500 }, (_, i) =>
          dataBytes(new PayloadFrame(circuitId, from + i, 0, data)),
        );
        if (!peer.socket.write(Buffer.concat(batch))) {
          await until('room to write', () => !peer.socket.writableNeedDrain, Boolean);
        }
        peer.frames.length = 0;
      }
      await assertAlive(peer);
      peer.frames.length = 0;
      await givenBack(memory);
      peer.close();
      await until(
        'the circuit to be forgotten',
        () => service.connections.size,
        (open) => open < 10,
      );
    });
  }

  it('leaves nothing behind', async () => {
    await until(
      'circuits of closed channels to be gone',
      () => world.up.router.circuitCount,
      (count) => count <= 4,
    );
    assert.equal(
      world.records.some(({ level }) => level === 'error'),
      false,
      JSON.stringify(world.records.filter(({ level }) => level === 'error')),
    );
  });
});
