// What connections of channels hold while they have little to say.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { test } from 'node:test';
import { FrameDecoder } from '#wire';
import { AcknowledgementFrame } from '#wire/xgress';
import { usedMemory } from '../../../test/support/heap.ts';
import { Underlay } from './underlay.ts';

const COUNT = 500;

function underlayTo(write: (bytes: Uint8Array) => void): Underlay {
  const sink = new Duplex({
    read: () => {},
    write: (bytes: Uint8Array, _encoding, done) => {
      write(bytes);
      done();
    },
  });
  return new Underlay(sink as Socket, 'link.default', { payloads: 0, acknowledgements: 0 }, () => {});
}

test('a connection that has received little holds a few KiB', async () => {
  const memory = await usedMemory();
  const underlays = Array.from({ length: COUNT }, () => underlayTo(() => {}));
  for (const underlay of underlays) underlay.sendAcknowledgement(new AcknowledgementFrame('c', 0, 0, [1]), 1);
  await turn();
  const held = ((await usedMemory()) - memory) / underlays.length;
  assert.ok(held < 12 * 1024, `${Math.round(held)} bytes each`);
});

test('frames of all sizes leave whole and in order, for any pieces that they are written in', async () => {
  const decoder = new FrameDecoder({ maxHeadersBytes: 1_000, maxBodyBytes: 1 << 20 });
  const lengths: number[] = [];
  const underlay = underlayTo((bytes) => {
    assert.equal(
      decoder.push(bytes.slice(), ({ body }) => void lengths.push(body.length / 4)),
      undefined,
    );
  });
  const sent = Array.from({ length: 400 }, (_, at) => (at * 37) % 1_000);
  for (const [at, length] of sent.entries()) {
    const sequences = Array.from({ length }, (_, index) => index);
    underlay.sendAcknowledgement(new AcknowledgementFrame('c', 0, 0, sequences), at + 1);
    if (at % 7 === 0) await turn();
  }
  await turn();
  await turn();
  assert.deepEqual(lengths, sent);
  assert.equal(decoder.bufferedBytes, 0);
});
