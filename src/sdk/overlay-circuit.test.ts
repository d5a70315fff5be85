// Which end a broken circuit is blamed on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAYLOAD_FLAGS, PayloadFrame } from '#wire';
import type { CircuitError } from './circuit.ts';
import { OverlayCircuit, type CircuitCarrier } from './overlay-circuit.ts';

const CARRIER: CircuitCarrier = {
  isLeaving: false,
  hasRoom: () => true,
  awaitRoom: () => {},
  sendData: () => {},
  acknowledgeLater: () => {},
  closed: () => {},
};

function breakOne(
  isTerminator: boolean,
  how: (circuit: OverlayCircuit) => void,
): CircuitError['hop'] | undefined {
  let hop: CircuitError['hop'] | undefined;
  const circuit = new OverlayCircuit('c', 1, isTerminator, CARRIER);
  circuit.onClose = (error) => (hop = error?.hop);
  circuit.resume();
  how(circuit);
  return hop;
}

test('a broken circuit names the end that broke it', () => {
  const destroy = (circuit: OverlayCircuit): void => circuit.destroy('over');
  assert.equal(breakOne(true, destroy), 'agent');
  assert.equal(breakOne(false, destroy), 'gateway');
  const sendBadChunk = (circuit: OverlayCircuit): void => {
    const sender = circuit.isTerminator ? 0 : PAYLOAD_FLAGS.originator;
    const noLength = new Uint8Array(5).fill(0xff);
    circuit.receive(new PayloadFrame('c', 0, sender | PAYLOAD_FLAGS.chunk, noLength));
  };
  assert.equal(breakOne(false, sendBadChunk), 'agent');
  assert.equal(breakOne(true, sendBadChunk), 'gateway');
});

test('an end that has ended both directions closes when the other one is destroyed before it has read the end', () => {
  const ends: OverlayCircuit[] = [];
  const closed: (CircuitError | undefined)[] = [];
  const carrierTo = (to: number): CircuitCarrier => ({
    ...CARRIER,
    sendData: (frame) => {
      if (isCut && to === 0) return;
      const sent = frame instanceof PayloadFrame ? copyOf(frame) : frame;
      ends[to]!.receive(sent);
    },
    acknowledgeLater: (circuit) => circuit.flushAcknowledgements(),
  });
  let isCut = false;
  for (const at of [0, 1]) {
    const circuit = new OverlayCircuit('c', 1, at === 1, carrierTo(1 - at));
    circuit.onClose = (error) => void (closed[at] = error);
    ends.push(circuit);
  }
  const [dialer, host] = ends as [OverlayCircuit, OverlayCircuit];
  for (const end of ends) end.resume();
  dialer.start();
  host.start();
  dialer.end();
  isCut = true;
  host.end();
  assert.deepEqual(Object.keys(closed), []);
  dialer.destroy();
  assert.deepEqual(Object.keys(closed), ['0', '1']);
  assert.equal(closed[1], undefined);
});

function copyOf({ circuitId, sequence, flags, data }: PayloadFrame): PayloadFrame {
  return new PayloadFrame(circuitId, sequence, flags, data.slice());
}

test('an end that has ended both directions closes when the other one reports its own end, without an acknowledgement', () => {
  const closed: (CircuitError | undefined)[] = [];
  const circuit = new OverlayCircuit('c', 1, true, CARRIER);
  circuit.onClose = (error) => closed.push(error);
  circuit.resume();
  const { circuitStart, eof, circuitEnd } = PAYLOAD_FLAGS;
  const receive = (sequence: number, flags: number): void =>
    circuit.receive(new PayloadFrame('c', sequence, flags, new Uint8Array(0)));
  receive(0, circuitStart | eof);
  circuit.end();
  assert.deepEqual(closed, []);
  receive(1, circuitEnd);
  assert.deepEqual(closed, [undefined]);
});
