import assert from 'node:assert/strict';
import { test } from 'node:test';
import { utf8 } from '#base';
import { LineDecoder } from './line-decoder.ts';

test('lines come out the same however the bytes are cut', () => {
  const bytes = utf8('one\n\nzwei ü\nthree\nrest');
  for (let size = 1; size <= bytes.length; size += 1) {
    const decoder = new LineDecoder(100);
    const lines: string[] = [];
    for (let at = 0; at < bytes.length; at += size)
      lines.push(...decoder.push(bytes.subarray(at, at + size)));
    assert.deepEqual(lines, ['one', '', 'zwei ü', 'three']);
    assert.equal(decoder.overflowed, false);
  }
});

test('a line at the cap passes, one byte more overflows for good', () => {
  const decoder = new LineDecoder(4);
  assert.deepEqual(decoder.push(utf8('abcd\nabcde')), ['abcd']);
  assert.equal(decoder.overflowed, true);
  assert.deepEqual(decoder.push(utf8('\nx\n')), []);
});
