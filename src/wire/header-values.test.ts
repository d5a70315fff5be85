import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOfHex, hexOf, utf8 } from '#base';
import { loadWireVectors } from '../../test/support/recorded-frames.ts';
import { FrameHeaders, HeaderWriter } from './frame-headers.ts';
import {
  decodeBytesMap,
  decodeTextList,
  decodeTextMap,
  encodeBytesMap,
  encodeCapabilities,
  encodeTextList,
  encodeTextMap,
  hasCapability,
} from './header-values.ts';

function vectorHex(name: string): string {
  return loadWireVectors().find((each) => each.name === name)!.hex;
}

test('lists and maps decode and encode as the vectors have them', () => {
  const list = vectorHex('string_slice');
  assert.deepEqual(decodeTextList(bytesOfHex(list)), ['ab', 'c']);
  assert.equal(hexOf(encodeTextList(['ab', 'c'])), list);
  const bytesMap = vectorHex('u32_bytes_map');
  const decoded = decodeBytesMap(bytesOfHex(bytesMap))!;
  assert.deepEqual(
    [...decoded].map(([key, value]) => [key, hexOf(value)]),
    [[1003, 'aabb']],
  );
  assert.equal(hexOf(encodeBytesMap(decoded)), bytesMap);
  const textMap = vectorHex('string_map');
  assert.deepEqual([...decodeTextMap(bytesOfHex(textMap))!], [['k', 'vv']]);
  assert.equal(hexOf(encodeTextMap(new Map([['k', 'vv']]))), textMap);
});

test('an empty list is an empty value, and an empty value an empty list or map', () => {
  assert.equal(encodeTextList([]).length, 0);
  assert.deepEqual(decodeTextList(new Uint8Array(0)), []);
  assert.equal(decodeBytesMap(new Uint8Array(0))?.size, 0);
  assert.equal(decodeTextMap(new Uint8Array(0))?.size, 0);
  assert.deepEqual(decodeTextList(encodeTextList(['', ''])), ['', '']);
});

test('values that are cut off, too long, too many or followed by more bytes are refused', () => {
  const whole = [
    [decodeTextList, encodeTextList(['ab', 'c'])],
    [decodeBytesMap, encodeBytesMap(new Map([[7, utf8('x')]]))],
    [decodeTextMap, encodeTextMap(new Map([['k', 'v']]))],
  ] as const;
  for (const [decode, bytes] of whole) {
    for (let length = 1; length < bytes.length; length += 1) {
      assert.equal(decode(bytes.subarray(0, length)), undefined, `${decode.name} of ${length} bytes`);
    }
    const longer = new Uint8Array(bytes.length + 1);
    longer.set(bytes);
    assert.equal(decode(longer), undefined, `${decode.name} with a byte too many`);
    assert.equal(decode(bytesOfHex('ffffffff')), undefined);
    assert.equal(decode(bytesOfHex('01000000ffffff7f')), undefined);
  }
});

test('128 entries of 8,192 bytes are the bound', () => {
  const items = Array.from({ length: 128 }, () => 'x'.repeat(8_192));
  assert.equal(decodeTextList(encodeTextList(items))?.length, 128);
  assert.equal(decodeTextList(encodeTextList([...items, 'x'])), undefined);
  assert.equal(decodeTextList(encodeTextList(['x'.repeat(8_193)])), undefined);
});

test('capability masks are big-endian, of minimal length', () => {
  assert.equal(hexOf(encodeCapabilities([1])), '02');
  assert.equal(hexOf(encodeCapabilities([1, 2, 3, 4, 5, 6])), '7e');
  assert.equal(hexOf(encodeCapabilities([8, 62])), '4000000000000100');
  assert.equal(encodeCapabilities([]).length, 0);
  const mask = encodeCapabilities([8, 62]);
  assert.deepEqual(
    [0, 8, 61, 62, 63, 64, 500].filter((capability) => hasCapability(mask, capability)),
    [8, 62],
  );
  assert.equal(hasCapability(undefined, 0), false);
});

test('the last of equal headers wins, an empty value is not an absent one', () => {
  const headers = new HeaderWriter().text(7, 'first').text(8, '').text(7, 'last').build();
  assert.equal(headers.text(7), 'last');
  assert.deepEqual([headers.has(8), headers.text(8)], [true, '']);
  assert.deepEqual([headers.has(9), headers.text(9)], [false, undefined]);
  assert.deepEqual(
    [...headers.entries()].map(([key]) => key),
    [7, 8, 7],
  );
});

test('numbers of the wrong size read as absent', () => {
  const headers = new HeaderWriter()
    .bytes(1, new Uint8Array(3))
    .bytes(2, new Uint8Array(5))
    .bytes(3, new Uint8Array(0))
    .build();
  for (const id of [1, 2, 3]) {
    assert.deepEqual(
      [headers.u16(id), headers.u32(id), headers.i32(id), headers.u64(id)],
      Array(4).fill(undefined),
    );
  }
  assert.equal(headers.u8(3), undefined);
  assert.equal(headers.bool(3), false);
});

test('numbers come back as they were written, at both ends of their ranges', () => {
  const headers = new HeaderWriter()
    .u8(1, 255)
    .u16(2, 65_535)
    .u32(3, 0xffff_ffff)
    .u32(4, -1)
    .u64(5, 0xffff_ffff_ffff_ffffn)
    .bool(6, true)
    .bytes(7, Uint8Array.of(2))
    .build();
  assert.deepEqual(
    [headers.u8(1), headers.u16(2), headers.u32(3), headers.i32(4)],
    [255, 65_535, 0xffff_ffff, -1],
  );
  assert.equal(headers.u64(5), 0xffff_ffff_ffff_ffffn);
  assert.deepEqual([headers.bool(6), headers.bool(7)], [true, false], 'only 1 is true');
  assert.equal(FrameHeaders.empty.raw.length, 0);
});
