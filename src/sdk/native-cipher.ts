/** Node's ciphers (OpenSSL) for the long messages of end-to-end encryption. */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { BulkCipher } from '#wire/xgress';

const AEAD = 'chacha20-poly1305';
const CODE = { authTagLength: 16 } as const;
const COUNTER_BYTES = 4;

export const nativeCipher: BulkCipher = {
  seal(key, nonce, head, body, into) {
    const cipher = createCipheriv(AEAD, key, nonce, CODE);
    // Every byte is written below. It is no Buffer, whose `slice` would be a view.
    const sealed =
      into ?? new Uint8Array(Buffer.allocUnsafeSlow(1 + body.length + CODE.authTagLength).buffer);
    sealed[0] = cipher.update(head)[0]!;
    const sealedBody = cipher.update(body);
    sealed.set(sealedBody, 1);
    // Freed now rather than by the garbage collection, the memory is still in the caches for the next message.
    if (sealedBody.buffer.byteLength === sealedBody.length) sealedBody.buffer.transfer(0);
    cipher.final();
    sealed.set(cipher.getAuthTag(), 1 + body.length);
    return sealed;
  },

  open(key, nonce, { head, body, code }) {
    const decipher = createDecipheriv(AEAD, key, nonce, CODE);
    decipher.setAuthTag(code);
    decipher.update(head);
    const message = decipher.update(body);
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return message;
  },

  xor(key, nonce, counter, data) {
    const iv = Buffer.alloc(COUNTER_BYTES + nonce.length);
    iv.writeUInt32LE(counter);
    iv.set(nonce, COUNTER_BYTES);
    return createCipheriv('chacha20', key, iv).update(data);
  },
};
