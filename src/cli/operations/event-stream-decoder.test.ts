import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomCuts } from '../../../test/support/random-cuts.ts';
import { SeededRandom } from '../../../test/support/seeded-random.ts';
import { EventStreamDecoder, type StreamEvent } from './event-stream-decoder.ts';

const TEXT =
  ': a comment\n\nid: 7\nevent: audit\ndata: {"a":"ä"}\n\ndata: one\r\ndata:two\r\n\r\nretry: 5\nid: 8\n\nevent: lost\n';
const EVENTS: StreamEvent[] = [
  { id: '7', event: 'audit', data: '{"a":"ä"}' },
  { id: '7', event: 'message', data: 'one\ntwo' },
];
const bytes = Buffer.from(TEXT);

function decode(cuts: Iterable<Uint8Array>): StreamEvent[] {
  const decoder = new EventStreamDecoder(1_000);
  return [...cuts].flatMap((cut) => decoder.push(cut));
}

test('events are read whole, byte by byte, and in random cuts', () => {
  assert.deepEqual(decode([bytes]), EVENTS);
  assert.deepEqual(decode([...bytes].map((byte) => Uint8Array.of(byte))), EVENTS);
  for (let seed = 1; seed <= 50; seed += 1)
    assert.deepEqual(decode(randomCuts(bytes, new SeededRandom(seed), 9)), EVENTS, `seed ${seed}`);
});

test('a line or an event over the cap overflows for good', () => {
  const line = new EventStreamDecoder(10);
  assert.deepEqual(line.push(Buffer.from('data: 0123456789')), []);
  assert.equal(line.overflowed, true);
  const event = new EventStreamDecoder(10);
  assert.deepEqual(event.push(Buffer.from('data: 012\ndata: 345\ndata: 678\ndata: 9ab\n\n')), []);
  assert.equal(event.overflowed, true);
  assert.deepEqual(event.push(Buffer.from('data: x\n\n')), []);
});
