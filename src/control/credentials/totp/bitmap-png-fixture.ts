/** Reads the images of `pngOf` as other programs do, for tests. */
import assert from 'node:assert/strict';
import { crc32, inflateSync } from 'node:zlib';
import decodeQR from 'qr/decode.js';

/** Returns the pixels of a black and white image without filters, row by row; 1 is black. */
export function pixelsOf(png: Buffer): number[][] {
  assert.equal(png.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n');
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const named = png.subarray(at + 4, at + 8 + length);
    assert.equal(png.readUInt32BE(at + 8 + length), crc32(named));
    chunks.set(named.toString('latin1', 0, 4), named.subarray(4));
    at += 12 + length;
  }
  assert.deepEqual([...chunks.keys()], ['IHDR', 'IDAT', 'IEND']);
  const header = chunks.get('IHDR')!;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  assert.deepEqual([...header.subarray(8)], [1, 0, 0, 0, 0]);
  const data = inflateSync(chunks.get('IDAT')!);
  const lineBytes = 1 + Math.ceil(width / 8);
  assert.equal(data.length, lineBytes * height);
  return Array.from({ length: height }, (_, y) => {
    const line = data.subarray(y * lineBytes, (y + 1) * lineBytes);
    assert.equal(line[0], 0);
    return Array.from({ length: width }, (_pixel, x) => 1 - ((line[1 + (x >> 3)]! >> (7 - (x & 7))) & 1));
  });
}

/** Returns what a reader of QR codes finds in the image. */
export function qrTextOf(png: Buffer): string {
  const pixels = pixelsOf(png);
  const data = Uint8Array.from(pixels.flat().flatMap((pixel) => [...Array(3).fill(255 * (1 - pixel)), 255]));
  return decodeQR({ width: pixels[0]!.length, height: pixels.length, data });
}
