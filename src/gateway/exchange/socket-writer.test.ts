import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { SocketWriter } from './socket-writer.ts';

function writerInto(writes: string[]): SocketWriter {
  const sink = new Duplex({
    read: () => {},
    write: (bytes: Buffer, _encoding, done) => {
      writes.push(bytes.toString('latin1'));
      done();
    },
    writev: (chunks, done) => {
      writes.push(chunks.map(({ chunk }) => (chunk as Buffer).toString('latin1')).join(''));
      done();
    },
  });
  return new SocketWriter(sink as Socket, 1_000_000);
}

/** Behind the callbacks that wait for the present one's end. */
function tick(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function add(writer: SocketWriter, text: string): void {
  writer.batch.view(Buffer.from(text, 'latin1'));
  writer.written();
}

test('a short answer leaves at the end of the callback that produced it, in one piece', async () => {
  const writes: string[] = [];
  const writer = writerInto(writes);
  add(writer, 'head');
  add(writer, 'body');
  assert.deepEqual(writes, []);
  await tick();
  assert.deepEqual(writes, ['headbody']);
});

test('the pieces of a long body in one turn of the event loop are written together, up to 64 KiB, and in order', async () => {
  const writes: string[] = [];
  const writer = writerInto(writes);
  const pieces = Array.from({ length: 6 }, (_, i) => String(i).repeat(16_000));
  for (const piece of pieces) {
    add(writer, piece);
    // As between the records of one read.
    await tick();
  }
  add(writer, 'end');
  await turn();
  await turn();
  assert.equal(writes.join(''), `${pieces.join('')}end`);
  assert.deepEqual(
    writes.map((text) => text.length),
    [80_000, 16_003],
  );
});

test('an end takes everything with it that waits', async () => {
  const writes: string[] = [];
  const writer = writerInto(writes);
  add(writer, 'x'.repeat(20_000));
  writer.end();
  assert.equal(writes.join('').length, 20_000);
  await turn();
  assert.equal(writes.join('').length, 20_000);
});
