import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hexOf, utf8 } from '#base';
import { fc } from '../../test/support/fast-check.ts';
import { FrameHeaders, HeaderWriter } from './frame-headers.ts';

test('entries are written in the order of the calls, little-endian, each with its length', () => {
  const { raw } = new HeaderWriter()
    .u32(1, 0xfedc_ba98)
    .bool(2, true)
    .u16(3, 0x0102)
    .u8(0xffff_fffe, 7)
    .text(5, 'ab')
    .u64(6, 0x0102_0304_0506_0708n)
    .bytes(7, Uint8Array.of(9, 8))
    .build();
  assert.equal(
    hexOf(raw),
    [
      '010000000400000098badcfe',
      '020000000100000001',
      '03000000020000000201',
      'feffffff0100000007',
      '05000000020000006162',
      '06000000080000000807060504030201',
      '07000000020000000908',
    ].join(''),
  );
});

test('texts are UTF-8 whatever their length and characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      const value = text.toWellFormed();
      const headers = new HeaderWriter().text(1000, value).u8(1001, 1).build();
      assert.equal(headers.text(1000), value);
      assert.deepEqual(headers.bytes(1000), utf8(value));
      assert.equal(headers.u8(1001), 1);
    }),
  );
});

test('a value of another length than its type has counts as absent, and an empty one has no first byte', () => {
  const headers = new HeaderWriter().bytes(1, new Uint8Array(3)).bytes(2, new Uint8Array(0)).build();
  assert.deepEqual(
    [headers.u16(1), headers.u32(1), headers.u64(1), headers.u8(1)],
    [undefined, undefined, undefined, 0],
  );
  assert.deepEqual(
    [headers.u8(2), headers.bool(2), headers.has(2), headers.has(3)],
    [undefined, false, true, false],
  );
});

test('of equal keys the last one counts, also when the entries of another frame are copied', () => {
  const first = new HeaderWriter().u32(1, 5).text(2, 'old').build();
  const headers = new HeaderWriter().copy(first).text(2, 'new').copy(FrameHeaders.empty).build();
  assert.deepEqual([headers.u32(1), headers.text(2)], [5, 'new']);
  assert.equal(new HeaderWriter().copy(FrameHeaders.empty).build(), FrameHeaders.empty);
});
