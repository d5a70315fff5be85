import assert from 'node:assert/strict';
import { test } from 'node:test';
import { utf8 } from '#base';
import { decodeCircuitId } from './circuit-id-codec.ts';

test('an id is read from where it lies, again and again, among more ids than are remembered', () => {
  const ids = Array.from({ length: 5_000 }, (_, i) => `circuit${i}`);
  for (let round = 0; round < 3; round += 1) {
    for (const id of ids) assert.equal(decodeCircuitId(utf8(`<<${id}>>`), 2, id.length), id);
  }
});

test('ids of the same length and ends are distinguished, bytes outside ASCII included', () => {
  assert.equal(decodeCircuitId(utf8('abc1xyz'), 0, 7), 'abc1xyz');
  assert.equal(decodeCircuitId(utf8('abc2xyz'), 0, 7), 'abc2xyz');
  assert.equal(decodeCircuitId(Uint8Array.of(0x61, 0xff, 0x00), 0, 3), 'a\u{ff}\0');
  assert.equal(decodeCircuitId(Uint8Array.of(0x61, 0xfe, 0x00), 0, 3), 'a\u{fe}\0');
});

test('an id longer than 64 bytes, and one of none, read as empty', () => {
  assert.equal(decodeCircuitId(utf8('x'.repeat(64)), 0, 64), 'x'.repeat(64));
  assert.equal(decodeCircuitId(utf8('x'.repeat(65)), 0, 65), '');
  assert.equal(decodeCircuitId(utf8('x'), 0, 0), '');
});
