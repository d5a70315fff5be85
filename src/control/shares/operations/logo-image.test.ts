import assert from 'node:assert/strict';
import { crc32, deflateSync } from 'node:zlib';
import { test } from 'node:test';
import { fc } from '../../../../test/support/fast-check.ts';
import { parseLogo } from './logo-image.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

function chunk(type: string, data: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(data.length);
  head.write(type, 4, 'latin1');
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(Buffer.concat([head.subarray(4), data])));
  return Buffer.concat([head, data, sum]);
}

function headOf(width: number, height: number): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([8, 6, 0, 0, 0], 8);
  return chunk('IHDR', data);
}

const PICTURE = chunk('IDAT', deflateSync(Buffer.from([0, 1, 2, 3, 4])));
const END = chunk('IEND');
const png = (...chunks: readonly Buffer[]) => Buffer.concat([SIGNATURE, ...chunks]);
const plain = png(headOf(1, 1), PICTURE, END);

test('a logo keeps its picture, and loses texts, places and further pictures', () => {
  const rich = png(
    headOf(1, 1),
    chunk('acTL', Buffer.alloc(8)),
    chunk('tEXt', Buffer.from('Author\0Ann')),
    PICTURE,
    chunk('eXIf', Buffer.from('59.9N 10.7E')),
    END,
  );
  assert.equal(parseLogo(rich.toString('base64')), plain.toString('base64'));
});

test('what is no PNG image of the permitted size is refused, in one sentence', () => {
  const large = chunk('IDAT', Buffer.alloc(40_000));
  const rows = [
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'), /PNG image$/],
    [Buffer.from('GIF89a'), /PNG image$/],
    [Buffer.alloc(0), /PNG image$/],
    [png(headOf(1, 1), END), /PNG image$/],
    [png(PICTURE, END), /PNG image$/],
    [Buffer.concat([plain, Buffer.from('<script>')]), /PNG image$/],
    [plain.subarray(0, -1), /PNG image$/],
    [png(headOf(1, 1), headOf(60_000, 60_000), PICTURE, END), /PNG image$/],
    [png(headOf(1_025, 1), PICTURE, END), /1024 pixels/],
    [png(headOf(1, 0), PICTURE, END), /1024 pixels/],
    [png(headOf(1, 2 ** 31), PICTURE, END), /1024 pixels/],
    [png(headOf(1, 1), large, END), /32 KiB$/],
  ] as const;
  for (const [bytes, message] of rows)
    assert.throws(() => parseLogo(Buffer.from(bytes).toString('base64')), { kind: 'invalid', message });
});

test('any change of bytes is refused or leaves a PNG image', () => {
  const at = fc.integer({ min: 0, max: plain.length - 1 });
  fc.assert(
    fc.property(at, fc.integer({ min: 0, max: 255 }), (place, byte) => {
      const changed = Buffer.from(plain);
      changed[place] = byte;
      try {
        const kept = Buffer.from(parseLogo(changed.toString('base64')), 'base64');
        assert.ok(kept.subarray(0, 8).equals(SIGNATURE));
        assert.ok(kept.length <= plain.length);
      } catch (error) {
        assert.equal((error as { readonly kind?: string }).kind, 'invalid');
      }
    }),
  );
});
