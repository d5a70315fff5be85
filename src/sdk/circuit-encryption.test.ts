// The key exchange against libsodium's crypto_kx, and the messages of both ends of a circuit.
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { describe, it } from 'node:test';
import { bytesOfHex, hexOf, utf8 } from '#base';
import { STREAM_HEADER_BYTES, STREAM_OVERHEAD_BYTES } from '#wire/xgress';
import { fc } from '../../test/support/fast-check.ts';
import { largeText, loadSodiumVectors } from '../../test/support/libsodium-vectors.ts';
import {
  CircuitEncryption,
  directionKeys,
  generateEncryptionKeys,
  sealedPieceBytes,
  type EncryptionKeys,
} from './circuit-encryption.ts';

const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');

function importKeys(pair: { readonly publicKey: string; readonly privateKey: string }): EncryptionKeys {
  const der = Buffer.concat([PKCS8_PREFIX, bytesOfHex(pair.privateKey)]);
  return {
    publicKey: bytesOfHex(pair.publicKey),
    privateKey: createPrivateKey({ key: der, type: 'pkcs8', format: 'der' }),
  };
}

function openPair(): { readonly dialer: CircuitEncryption; readonly host: CircuitEncryption } {
  const [dialer, host] = [generateEncryptionKeys(), generateEncryptionKeys()];
  return {
    dialer: new CircuitEncryption(directionKeys('dialer', dialer, host.publicKey)!),
    host: new CircuitEncryption(directionKeys('host', host, dialer.publicKey)!),
  };
}

describe('the key exchange', () => {
  it('yields the keys of crypto_kx at both ends', () => {
    for (const exchange of loadSodiumVectors().exchanges) {
      const [dialer, host] = [importKeys(exchange.dialer), importKeys(exchange.host)];
      const atDialer = directionKeys('dialer', dialer, host.publicKey)!;
      const atHost = directionKeys('host', host, dialer.publicKey)!;
      assert.equal(hexOf(atDialer.receives), exchange.dialerReceives);
      assert.equal(hexOf(atDialer.sends), exchange.dialerSends);
      assert.deepEqual([atHost.sends, atHost.receives], [atDialer.receives, atDialer.sends]);
    }
  });

  it('accepts no key of another length, and none that yields no secret', () => {
    const own = generateEncryptionKeys();
    assert.equal(own.publicKey.length, 32);
    const lowOrder = 'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800';
    for (const hex of ['', '00'.repeat(31), '00'.repeat(33), '00'.repeat(32), lowOrder]) {
      assert.equal(directionKeys('host', own, bytesOfHex(hex)), undefined);
      assert.equal(directionKeys('dialer', own, bytesOfHex(hex)), undefined);
    }
  });
});

describe('the encryption of a circuit', () => {
  it('opens at each end what the other sealed, behind its header', () => {
    const { dialer, host } = openPair();
    assert.equal(dialer.header.length, STREAM_HEADER_BYTES);
    assert.deepEqual(host.open(dialer.header)?.length, 0);
    assert.deepEqual(dialer.open(host.header)?.length, 0);
    for (const bytes of [0, 1, 17, 1024, 16_344, 16_367]) {
      for (const [from, to] of [
        [dialer, host],
        [host, dialer],
      ] as const) {
        assert.equal(hexOf(to.open(from.seal(largeText(bytes, bytes)))!), hexOf(largeText(bytes, bytes)));
      }
    }
  });

  it('opens a header and a message that came in one piece', () => {
    const { dialer, host } = openPair();
    const joined = Buffer.concat([dialer.header, dialer.seal(utf8('first'))]);
    assert.equal(Buffer.from(host.open(joined)!).toString(), 'first');
    assert.equal(Buffer.from(host.open(dialer.seal(utf8('second')))!).toString(), 'second');
  });

  it('opens nothing before a whole header, and nothing of its own', () => {
    const { dialer, host } = openPair();
    assert.equal(host.open(dialer.header.subarray(1)), undefined);
    assert.deepEqual(dialer.open(host.header)?.length, 0);
    assert.equal(dialer.open(dialer.seal(utf8('reflected'))), undefined);
  });

  it('cuts a view into pieces that fit when sealed, few and mostly of the fast length', () => {
    const check = (total: number, most: number): void => {
      const pieces: number[] = [];
      for (let left = total; left > 0; left -= pieces.at(-1)!) pieces.push(sealedPieceBytes(left, most));
      assert.equal(
        pieces.reduce((sum, bytes) => sum + bytes, 0),
        total,
      );
      assert.ok(pieces.every((bytes) => bytes > 0 && bytes + STREAM_OVERHEAD_BYTES <= most));
      assert.ok(pieces.slice(0, -1).every((bytes) => bytes % 8 === 0));
      assert.ok(pieces.length <= Math.ceil(total / (most - 24)) + 1);
    };
    const [totals, mosts] = [fc.integer({ min: 1, max: 200_000 }), fc.integer({ min: 2_000, max: 70_000 })];
    fc.assert(fc.property(totals, mosts, check));
  });
});
