// Long messages are sealed by Node's ciphers, and are the bytes of libsodium.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { bytesOfHex, hexOf } from '#base';
import { SecretStreamPull, SecretStreamPush } from '#wire/xgress';
import { largeText, loadSodiumVectors } from '../../test/support/libsodium-vectors.ts';
import { nativeCipher } from './native-cipher.ts';

const { streams, large } = loadSodiumVectors();

describe('a secret stream over Node’s ciphers', () => {
  it('seals and opens every message as libsodium does', () => {
    for (const { key, header, messages } of streams) {
      const ends = [bytesOfHex(key), bytesOfHex(header), nativeCipher] as const;
      const push = new SecretStreamPush(...ends);
      const pull = new SecretStreamPull(...ends);
      for (const { text, tag, sealed } of messages) {
        assert.equal(hexOf(push.push(bytesOfHex(text), tag)), sealed);
        assert.equal(hexOf(pull.pull(bytesOfHex(sealed))!), text);
      }
    }
  });

  it('seals and opens large messages as libsodium does, of every length modulo 16', () => {
    for (const { key, header, bytes, seed, sealedSha256 } of large) {
      const ends = [bytesOfHex(key), bytesOfHex(header), nativeCipher] as const;
      const message = new SecretStreamPush(...ends).push(largeText(bytes, seed));
      assert.equal(createHash('sha256').update(message).digest('hex'), sealedSha256);
      assert.deepEqual(new Uint8Array(new SecretStreamPull(...ends).pull(message)!), largeText(bytes, seed));
    }
    const ends = [new Uint8Array(32).fill(3), new Uint8Array(24).fill(5)] as const;
    const [own, native] = [new SecretStreamPush(...ends), new SecretStreamPush(...ends, nativeCipher)];
    const pull = new SecretStreamPull(...ends, nativeCipher);
    for (let bytes = 490; bytes < 540; bytes += 1) {
      const message = native.push(largeText(bytes, bytes));
      assert.equal(hexOf(message), hexOf(own.push(largeText(bytes, bytes))));
      assert.equal(hexOf(pull.pull(message)!), hexOf(largeText(bytes, bytes)));
    }
  });

  it('opens no large message that was changed, cut or out of turn', () => {
    const ends = [new Uint8Array(32).fill(7), new Uint8Array(24).fill(8), nativeCipher] as const;
    for (const bytes of [1024, 1025]) {
      const push = new SecretStreamPush(...ends);
      const pull = new SecretStreamPull(...ends);
      const message = push.push(largeText(bytes, 1));
      const second = push.push(largeText(bytes, 2));
      for (const at of [0, 1, 2, 512, message.length - 16, message.length - 1]) {
        const changed = message.slice();
        changed[at]! ^= 0x10;
        assert.equal(pull.pull(changed), undefined);
      }
      for (const cut of [1, 8, 16, 17]) assert.equal(pull.pull(message.subarray(cut)), undefined);
      for (const cut of [1, 8, 16, 17]) assert.equal(pull.pull(message.subarray(0, -cut)), undefined);
      assert.equal(pull.pull(second), undefined);
      assert.ok(pull.pull(message));
      assert.ok(pull.pull(second));
    }
  });
});

describe('Node’s ciphers', () => {
  it('leave the memory of a message that they open as it is', () => {
    const ends = [new Uint8Array(32).fill(1), new Uint8Array(24).fill(2), nativeCipher] as const;
    const sealed = new SecretStreamPush(...ends).push(largeText(16_264, 1));
    const kept = sealed.slice();
    assert.deepEqual(new Uint8Array(new SecretStreamPull(...ends).pull(sealed)!), largeText(16_264, 1));
    assert.deepEqual(sealed, kept);
  });

  it('seal into the memory that is given', () => {
    const ends = [new Uint8Array(32).fill(3), new Uint8Array(24).fill(4)] as const;
    const into = new Uint8Array(2_048 + 17);
    const sealed = new SecretStreamPush(...ends, nativeCipher).push(largeText(2_048, 5), 0, into);
    assert.equal(sealed, into);
    assert.equal(hexOf(sealed), hexOf(new SecretStreamPush(...ends).push(largeText(2_048, 5))));
  });
});
