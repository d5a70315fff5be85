// The picture of a secret's URL, as a reader of QR codes sees it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pngOf } from './bitmap-png.ts';
import { pixelsOf, qrTextOf } from './bitmap-png-fixture.ts';
import { provisioningUrlOf, qrPictureOf } from './totp-secret.ts';

test('a reader of QR codes reads the URL from the picture, also with the longest name', () => {
  for (const name of ['ann@example.com', 'ann', '🦊'.repeat(64)]) {
    const url = provisioningUrlOf(new Uint8Array(20).fill(7), name);
    assert.equal(qrTextOf(Buffer.from(qrPictureOf(url))), url);
  }
});

test('the picture has a margin of four squares, and is no smaller than 200 pixels', () => {
  const pixels = pixelsOf(Buffer.from(qrPictureOf(provisioningUrlOf(new Uint8Array(20), 'ann'))));
  const first = pixels.findIndex((row) => row.includes(1));
  // The edge of the pattern in a corner: seven dark squares, then a light one.
  const scale = pixels[first]!.slice(first).indexOf(0) / 7;
  assert.equal(first, 4 * scale);
  assert.ok(pixels.length > 200, `${pixels.length} pixels`);
});

test('an image has each square in its size', () => {
  const rows = [
    [true, false, true],
    [false, true, false],
  ];
  assert.deepEqual(
    pixelsOf(Buffer.from(pngOf(rows, 2))).map((row) => row.join('')),
    ['110011', '110011', '001100', '001100'],
  );
});
