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

function endedHost(closed: (CircuitError | undefined)[], data?: Uint8Array): OverlayCircuit {
  const { circuitStart, eof } = PAYLOAD_FLAGS;
  const circuit = new OverlayCircuit('c', 1, true, CARRIER);
  circuit.onClose = (error) => closed.push(error);
  circuit.resume();
  circuit.receive(new PayloadFrame('c', 0, circuitStart | eof, new Uint8Array(0)));
  if (data !== undefined) circuit.write(data);
  circuit.end();
  return circuit;
}

test('an end whose end alone is never acknowledged closes soon, and one with data is broken later', () => {
  const closed: (CircuitError | undefined)[] = [];
  const nowMs = performance.now();
  const ended = endedHost(closed);
  for (const afterMs of [0, 1_900]) ended.tick(nowMs + afterMs);
  assert.deepEqual(closed, []);
  ended.tick(nowMs + 2_000);
  assert.deepEqual(closed, [undefined]);
  const broken: (CircuitError | undefined)[] = [];
  const sending = endedHost(broken, Uint8Array.of(1));
  for (const afterMs of [0, 299_000]) sending.tick(nowMs + afterMs);
  assert.equal(broken.length, 0);
  sending.tick(nowMs + 300_000);
  assert.deepEqual(
    broken.map((error) => error?.hop),
    ['gateway'],
  );
});
