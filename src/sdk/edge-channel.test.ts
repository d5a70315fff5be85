// How the circuits of one channel share it while it takes less than they have.
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { silentLog } from '#base';
import { openMemoryChannel, type Channel, type ChannelPeer } from '#net/channel';
import {
  contentType,
  encodeTextList,
  FrameHeaders,
  HeaderWriter,
  headerId,
  makeFrame,
  textOfBody,
  type Frame,
} from '#wire';
import { RouteErrorCode } from '#wire/circuits';
import { AcknowledgementFrame, PAYLOAD_FLAGS, PAYLOAD_TYPE, PayloadFrame } from '#wire/xgress';
import { until, within } from '../../test/support/deadline.ts';
import { EdgeChannel } from './edge-channel.ts';
import type { OverlayCircuit } from './overlay-circuit.ts';

const { edge } = headerId;
const PIECE = new Uint8Array(64 * 1024);

/** Resolves when frames that were sent before are handled. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A router that grants every circuit and counts what comes; it acknowledges only what opens a circuit. */
class CountingRouter {
  readonly edge: EdgeChannel;
  readonly channel: Channel;
  readonly bytes = new Map<string, number>();
  /** The sequences that each acknowledgement had. */
  readonly acknowledged: (readonly number[])[] = [];
  batches = 0;
  onBatchEnd: () => void = () => {};
  #granted = 0;

  constructor(t: TestContext) {
    const peer = (id: string): ChannelPeer => ({
      id,
      hello: FrameHeaders.empty,
      fingerprint: 'ff',
      address: 'memory',
    });
    const [dialer, listener] = openMemoryChannel(
      { id: 'x', log: silentLog, peer: peer('router') },
      { id: 'x', log: silentLog, peer: peer('sdk') },
    );
    this.channel = listener;
    listener.handle({
      onFrame: (frame, channel) => {
        if (frame.contentType !== contentType.connect) return;
        const headers = new HeaderWriter()
          .u32(edge.connId, frame.headers.u32(edge.connId)!)
          .text(edge.circuitId, `c${(this.#granted += 1)}`)
          .text(edge.xgressCtrlId, 'controller')
          .bool(edge.useXgressToSdk, true);
        channel.reply(frame, makeFrame(contentType.stateConnected, { headers }));
      },
      onData: (frame, channel) => {
        if (frame.contentType !== PAYLOAD_TYPE) {
          this.acknowledged.push(frame.sequences);
          return;
        }
        const { circuitId, data, flags, sequence } = frame;
        this.bytes.set(circuitId, (this.bytes.get(circuitId) ?? 0) + data.length);
        if ((flags & PAYLOAD_FLAGS.circuitStart) === 0) return;
        channel.sendData(new AcknowledgementFrame(circuitId, PAYLOAD_FLAGS.originator, 0, [sequence]));
      },
      onBatchEnd: () => {
        this.batches += 1;
        this.onBatchEnd();
      },
    });
    this.edge = new EdgeChannel(dialer, silentLog, { hasOtherWay: () => false, onClosed: () => {} });
    t.after(() => this.edge.close('test over'));
  }

  async dial(count: number): Promise<OverlayCircuit[]> {
    const circuits: OverlayCircuit[] = [];
    for (let i = 0; i < count; i += 1)
      circuits.push(await this.edge.dial({ token: 'token', callerId: 'caller', timeoutMs: 5_000 }));
    await until(
      'the circuits to be open',
      () => this.bytes.size,
      (open) => open === count,
    );
    await turn();
    return circuits;
  }
}

test('circuits that send without end take turns at a channel that is full', async (t) => {
  const router = new CountingRouter(t);
  const circuits = await router.dial(12);
  const produce = (circuit: OverlayCircuit): void => {
    while (circuit.write(PIECE));
  };
  for (const circuit of circuits) circuit.onDrain = () => produce(circuit);
  const stopAfter = router.batches + 6;
  router.onBatchEnd = () => {
    if (router.batches >= stopAfter) router.channel.pauseReading();
  };
  for (const circuit of circuits) produce(circuit);
  await until(
    'some batches',
    () => router.batches,
    (batches) => batches >= stopAfter,
  );
  // The first had the channel for itself, until it was full.
  const bytes = circuits.slice(1).map(({ id }) => router.bytes.get(id)!);
  const [least, most] = [Math.min(...bytes), Math.max(...bytes)];
  assert.ok(least >= 4 * PIECE.length && most - least <= 2 * PIECE.length, bytes.join());
});

test('a circuit with nothing on its way need not wait behind those that fill the channel', async (t) => {
  const router = new CountingRouter(t);
  const [quick, ...others] = (await router.dial(12)) as [OverlayCircuit, ...OverlayCircuit[]];
  router.channel.pauseReading();
  for (const circuit of others) while (circuit.write(PIECE));
  assert.equal(router.edge.isWritable, false);
  quick.write(new Uint8Array(100));
  // The channel hands over what it had taken, and then stops.
  router.onBatchEnd = () => router.channel.pauseReading();
  const before = router.batches;
  router.channel.resumeReading();
  await until(
    'a batch',
    () => router.batches,
    (batches) => batches > before,
  );
  assert.equal(router.bytes.get(quick.id), 100);
});

test('a channel measures the round trip to its router', async (t) => {
  const router = new CountingRouter(t);
  const { value } = await until(
    'a measurement',
    () => router.edge.latency.ms,
    (ms) => Number.isFinite(ms),
  );
  assert.ok(value >= 0, String(value));
});

test('a router that asks for circuits, or for a connection, is answered', async (t) => {
  const router = new CountingRouter(t);
  const [circuit] = (await router.dial(1)) as [OverlayCircuit];
  const ask = (type: number, headers: HeaderWriter): Promise<Frame> =>
    router.channel.request(makeFrame(type, { headers }), 5_000);
  const asked = new HeaderWriter().bytes(edge.inspectRequestedValues, encodeTextList(['Circuits', 'other']));
  const answer = await ask(contentType.edgeInspectRequest, asked);
  const { id, connId } = circuit;
  const row = {
    circuitId: id,
    connId,
    address: '',
    originator: 'Initiator',
    isXgress: true,
    ctrlId: 'controller',
  };
  assert.deepEqual(
    [answer.contentType, JSON.parse(textOfBody(answer))],
    [
      contentType.edgeInspectResponse,
      { errors: [], success: true, values: { Circuits: { circuits: { [id]: row } } } },
    ],
  );
  const kinds = [];
  for (const asksFor of [connId, connId + 1]) {
    const { headers } = await ask(
      contentType.connInspectRequest,
      new HeaderWriter().u32(edge.connId, asksFor),
    );
    kinds.push(headers.u8(edge.connType));
  }
  assert.deepEqual(kinds, [1, 0]);
});

test('a dial that crosses with the end of its bind is refused for the moment, not for good', async (t) => {
  const { channel } = new CountingRouter(t);
  const headers = new HeaderWriter()
    .u32(edge.connId, 5)
    .u32(edge.routerProvidedConnId, 0x8000_0001)
    .text(edge.circuitId, 'c1')
    .bool(edge.useXgressToSdk, true);
  const answer = await channel.request(makeFrame(contentType.dial, { headers, body: 'token' }), 30_000);
  assert.equal(answer.contentType, contentType.dialFailed);
  assert.equal(answer.headers.u8(headerId.ctrl.routeErrorCode), RouteErrorCode.resourcesNotAvailable);
});

test('a channel reports when no circuit has to acknowledge repetitions now', async (t) => {
  const router = new CountingRouter(t);
  const [first, second] = (await router.dial(2)) as [OverlayCircuit, OverlayCircuit];
  for (const circuit of [first, second]) {
    circuit.resume();
    circuit.end();
    const { originator, eof } = PAYLOAD_FLAGS;
    router.channel.sendData(new AcknowledgementFrame(circuit.id, originator, 0, [0, 1]));
    router.channel.sendData(new PayloadFrame(circuit.id, 0, originator | eof, new Uint8Array(0)));
    const closed = new Promise<void>((resolve) => (circuit.onClose = () => resolve()));
    await within('the end of the circuit', closed);
  }
  let isGone = false;
  const gone = router.edge.settled().then(() => (isGone = true));
  const close = ({ connId }: OverlayCircuit): void =>
    void router.channel.send(
      makeFrame(contentType.stateClosed, { headers: new HeaderWriter().u32(edge.connId, connId) }),
    );
  close(first);
  await until(
    'one circuit',
    () => router.edge.circuitCount,
    (count) => count === 1,
  );
  assert.equal(isGone, false);
  close(second);
  await within('both to be gone', gone);
});

test('small payloads are acknowledged together a moment later, an end at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const router = new CountingRouter(t);
  const [circuit] = (await router.dial(1)) as [OverlayCircuit];
  circuit.resume();
  const { originator, lateAcknowledgement, eof } = PAYLOAD_FLAGS;
  const received: string[] = [];
  circuit.onData = (data) => received.push(String(data.length));
  circuit.onEnd = () => received.push('end');
  const send = (sequence: number, flags: number, bytes: number): void =>
    void router.channel.sendData(
      new PayloadFrame(circuit.id, sequence, originator | flags, new Uint8Array(bytes)),
    );
  const delivered = (count: number): Promise<unknown> =>
    until(
      `${count} deliveries`,
      () => received.length,
      (length) => length === count,
    );
  for (const sequence of [0, 1, 2]) {
    send(sequence, lateAcknowledgement, 10);
    await delivered(sequence + 1);
  }
  await turn();
  assert.deepEqual(router.acknowledged, []);
  t.mock.timers.tick(20);
  await turn();
  assert.deepEqual(router.acknowledged, [[0, 1, 2]]);
  send(3, lateAcknowledgement, 10);
  await delivered(4);
  send(4, eof, 0);
  await delivered(5);
  await turn();
  assert.deepEqual(router.acknowledged.slice(1), [[3, 4]]);
});

test('a channel is settled when its router has handled what was sent', async (t) => {
  const router = new CountingRouter(t);
  const [circuit] = (await router.dial(1)) as [OverlayCircuit];
  router.channel.pauseReading();
  circuit.write(new Uint8Array(100));
  let isSettled = false;
  const settled = router.edge.settled().then(() => (isSettled = true));
  await turn();
  assert.deepEqual([isSettled, router.bytes.get(circuit.id)], [false, 0]);
  router.channel.resumeReading();
  await within('the channel to be settled', settled);
  assert.equal(router.bytes.get(circuit.id), 100);
});
