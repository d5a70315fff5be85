// QR codes, compared with the symbols that `qr` 0.7.0, another implementation, makes of the same bytes. Its decoder read every
// length up to 300 bytes, and every 37th up to 2,331, from these functions.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { pngOf } from './bitmap-png.ts';
import { pixelsOf } from './bitmap-png-fixture.ts';
import { qrCodeOf } from './qr-code.ts';

/** Bytes, version, and the start of the SHA-256 of the symbol's rows. */
const SYMBOLS = [
  [3, 1, '4861895cfec33b4d'],
  [15, 2, '80fbdcb619d20bce'],
  [63, 5, 'ed7555aa5a3f3d77'],
  [86, 6, '1423232826c96094'],
  [107, 7, '420d47de27c204e6'],
  [154, 9, 'c57c4ce36d9a161d'],
  [181, 10, '6044ed407c292456'],
  [332, 14, '1cd60ed612120355'],
  [667, 21, '68540790b440fe85'],
  [1126, 28, 'abaf4052630f9b35'],
  [1453, 32, '43953e56a7a97ae4'],
  [2214, 40, '0f257f1b2e3fb620'],
] as const;

const textOf = (length: number): string => 'otpauth://totp/'.repeat(156).slice(0, length);

test('symbols are those of another implementation, in small and large versions', () => {
  for (const [length, version, start] of SYMBOLS) {
    const rows = qrCodeOf(Buffer.from(textOf(length)))!.map((row) => row.join(''));
    assert.equal(rows.length, 17 + 4 * version);
    const hash = createHash('sha256').update(rows.join('\n')).digest('hex');
    assert.ok(hash.startsWith(start), `version ${version}`);
  }
});

test('more bytes than the largest symbol holds are none', () => {
  assert.equal(qrCodeOf(new Uint8Array(2_331))?.length, 177);
  assert.equal(qrCodeOf(new Uint8Array(2_332)), undefined);
});

test('an image has each square in its size, and the margin', () => {
  const pixels = pixelsOf(Buffer.from(pngOf([Uint8Array.of(1, 0, 1), Uint8Array.of(0, 1, 0)], 2, 1)));
  assert.deepEqual(
    pixels.map((row) => row.join('')),
    [
      ...['0000000000', '0000000000', '0011001100', '0011001100'],
      ...['0000110000', '0000110000', '0000000000', '0000000000'],
    ],
  );
});
