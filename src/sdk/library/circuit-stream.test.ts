// A circuit as a Node stream: half-close, backpressure in both directions, and ends of every kind.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { within } from '../../../test/support/deadline.ts';
import { CircuitError, type Circuit } from '../circuit.ts';
import { CircuitStream } from './circuit-stream.ts';

/** A circuit whose far end is the test. */
class ScriptedCircuit implements Circuit {
  readonly id = 'c1';
  readonly written: string[] = [];
  hasRoom = true;
  isPaused = true;
  isEnded = false;
  isDestroyed = false;
  onData: Circuit['onData'] = () => {};
  onEnd: Circuit['onEnd'] = () => {};
  onDrain: Circuit['onDrain'] = () => {};
  onClose: Circuit['onClose'] = () => {};

  write(view: Uint8Array): boolean {
    this.written.push(Buffer.from(view).toString());
    return this.hasRoom;
  }
  writeLent(view: Uint8Array): boolean {
    return this.write(Uint8Array.from(view));
  }
  writeMessage(): never {
    throw new Error('a stream writes no datagrams');
  }
  end(): void {
    this.isEnded = true;
  }
  destroy(): void {
    this.isDestroyed = true;
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
}

function open(): { circuit: ScriptedCircuit; stream: CircuitStream } {
  const circuit = new ScriptedCircuit();
  return { circuit, stream: new CircuitStream(circuit, { service: 'app', callerId: '' }) };
}

test('an ended stream still reads, and closes when the circuit is over', async () => {
  const { circuit, stream } = open();
  stream.end('question');
  await within('the half-close', once(stream, 'finish'));
  assert.deepEqual([circuit.written, circuit.isEnded], [['question'], true]);
  const closed = once(stream, 'close');
  circuit.onData(Buffer.from('answer'));
  circuit.onEnd();
  const parts: unknown[] = [];
  for await (const part of stream) parts.push(String(part));
  assert.deepEqual(parts, ['answer']);
  assert.equal(circuit.isDestroyed, false);
  circuit.onClose();
  await within('the close', closed);
});

test('a write waits for room, and owns its bytes', async () => {
  const { circuit, stream } = open();
  circuit.hasRoom = false;
  const buffer = Buffer.from('first');
  let isWritten = false;
  stream.write(buffer, () => (isWritten = true));
  buffer.fill('x');
  stream.write('second');
  stream.write('third');
  assert.deepEqual([circuit.written, isWritten], [['first'], false]);
  circuit.hasRoom = true;
  circuit.onDrain();
  await within('the writes', new Promise((resolve) => stream.end(resolve)));
  assert.deepEqual([circuit.written, isWritten], [['first', 'secondthird'], true]);
  stream.destroy();
});

test('a reader that stops pauses the circuit, and resumes it when it reads again', () => {
  const { circuit, stream } = open();
  assert.equal(circuit.isPaused, false);
  while (!circuit.isPaused) circuit.onData(new Uint8Array(16_384));
  assert.ok(stream.readableLength >= stream.readableHighWaterMark);
  stream.read();
  assert.equal(circuit.isPaused, false);
  stream.destroy();
});

test('a broken circuit is an error with code, part and remedy', async () => {
  const { circuit, stream } = open();
  const failed = once(stream, 'error');
  circuit.onClose(new CircuitError('circuit-closed', 'agent', 'gone'));
  const [error] = await within('the error', failed);
  const { code, kind, failedPart, message, remedy } = error as Record<string, string>;
  assert.deepEqual([code, kind, failedPart, message], ['circuit-closed', 'unavailable', 'agent', 'gone']);
  assert.match(remedy!, /Dial again/);
});

test('an answer is read to its end although the circuit is removed before it was read', async () => {
  const { circuit, stream } = open();
  stream.end('question');
  await within('the half-close', once(stream, 'finish'));
  circuit.onData(Buffer.from('answer'));
  circuit.onEnd();
  circuit.onClose(new CircuitError('circuit-closed', 'router', 'unrouted'));
  const parts: unknown[] = [];
  for await (const part of stream) parts.push(String(part));
  assert.deepEqual(parts, ['answer']);
});

test('a destroyed stream destroys its circuit', async () => {
  const { circuit, stream } = open();
  stream.destroy();
  await within('the close', once(stream, 'close'));
  assert.equal(circuit.isDestroyed, true);
});
