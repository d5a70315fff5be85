// Poly1305 and ChaCha20 against the values of RFC 8439 and numbers at the edges of the modulus.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytesOfHex, hexOf, utf8 } from '#base';
import { ChaCha20 } from './chacha20.ts';
import { readU32, writeU32 } from './frame-headers.ts';
import { Poly1305 } from './poly1305.ts';

function words(hex: string): Uint32Array {
  const bytes = bytesOfHex(hex);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, word) => readU32(bytes, word * 4));
}

function code(key: string, message: Uint8Array): string {
  const poly = new Poly1305();
  const out = new Uint8Array(18);
  // What another message left has no effect.
  for (const text of [utf8('another message, with a rest'), message]) {
    poly.begin(words(key));
    poly.finish(text, text.length, out, 1);
  }
  assert.deepEqual([out[0], out[17]], [0, 0]);
  return hexOf(out.subarray(1, 17));
}

test('the message of RFC 8439, section 2.5.2, has its code', () => {
  const key = '85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b';
  assert.equal(code(key, utf8('Cryptographic Forum Research Group')), 'a8061dc1305136c6c22b8baf0c0127a9');
});

test('sums at and above the modulus wrap, as in RFC 8439, appendix A.3', () => {
  const two = `02${'00'.repeat(31)}`;
  const one = `01${'00'.repeat(31)}`;
  const ff = 'ff'.repeat(16);
  assert.equal(code(two, bytesOfHex(ff)), `03${'00'.repeat(15)}`);
  assert.equal(code(`02${'00'.repeat(15)}${ff}`, bytesOfHex(`02${'00'.repeat(15)}`)), `03${'00'.repeat(15)}`);
  assert.equal(
    code(one, bytesOfHex(`${ff}f0${'ff'.repeat(15)}11${'00'.repeat(15)}`)),
    `05${'00'.repeat(15)}`,
  );
  assert.equal(code(one, bytesOfHex(`${ff}fb${'fe'.repeat(15)}${'01'.repeat(16)}`)), '00'.repeat(16));
  assert.equal(code(two, bytesOfHex(`fd${'ff'.repeat(15)}`)), `fa${'ff'.repeat(15)}`);
});

test('a keystream block and a derived key are those of RFC 8439 and of the XChaCha draft', () => {
  const cipher = new ChaCha20(words('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'));
  const block = cipher.block(1, 0x09000000, 0x4a000000, 0);
  assert.deepEqual([block[0], block[15]], [0xe4e7f110, 0x4e3c50a2]);
  const derived = new Uint8Array(32);
  cipher.derive(0x09000000, 0x4a000000, 0, 0x27594131).forEach((word, at) => writeU32(derived, at * 4, word));
  assert.equal(hexOf(derived), '82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc');
});
