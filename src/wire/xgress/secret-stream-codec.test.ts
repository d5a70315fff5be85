// The stream codec against messages that libsodium sealed, and against changed streams.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { bytesOfHex, hexOf } from '#base';
import { largeText, loadSodiumVectors } from '../../../test/support/libsodium-vectors.ts';
import {
  SecretStreamPull,
  SecretStreamPush,
  STREAM_OVERHEAD_BYTES,
  STREAM_TAGS,
} from './secret-stream-codec.ts';

const { streams, large } = loadSodiumVectors();
const KEY = Uint8Array.from({ length: 32 }, (_, at) => at);
const HEADER = Uint8Array.from({ length: 24 }, (_, at) => 200 - at);

function sealed(texts: readonly Uint8Array[]): Uint8Array[] {
  const push = new SecretStreamPush(KEY, HEADER);
  return texts.map((text) => push.push(text));
}

const puller = (): SecretStreamPull => new SecretStreamPull(KEY, HEADER);

describe('a secret stream', () => {
  it('seals every message as libsodium does, with all tags and the keys that follow them', () => {
    for (const { key, header, messages } of streams) {
      const push = new SecretStreamPush(bytesOfHex(key), bytesOfHex(header));
      for (const { text, tag, sealed } of messages) {
        assert.equal(hexOf(push.push(bytesOfHex(text), tag)), sealed);
      }
    }
  });

  it('opens every message that libsodium sealed', () => {
    for (const { key, header, messages } of streams) {
      const pull = new SecretStreamPull(bytesOfHex(key), bytesOfHex(header));
      for (const { text, tag, sealed } of messages) {
        const opened = pull.pull(bytesOfHex(sealed));
        assert.equal(opened === undefined ? undefined : hexOf(opened), text);
        assert.equal(pull.tag, tag);
      }
    }
  });

  it('seals and opens large messages as libsodium does', () => {
    for (const { key, header, bytes, seed, sealedSha256 } of large) {
      const text = largeText(bytes, seed);
      const message = new SecretStreamPush(bytesOfHex(key), bytesOfHex(header)).push(text);
      assert.equal(createHash('sha256').update(message).digest('hex'), sealedSha256);
      const opened = new SecretStreamPull(bytesOfHex(key), bytesOfHex(header)).pull(message);
      assert.deepEqual(opened, text);
    }
  });

  it('opens no message with any bit changed, and the right one afterwards', () => {
    const text = largeText(50, 1);
    const [message] = sealed([text]);
    const pull = puller();
    for (let at = 0; at < message!.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const changed = message!.slice();
        changed[at]! ^= 1 << bit;
        assert.equal(pull.pull(changed), undefined);
      }
    }
    assert.deepEqual(pull.pull(message!), text);
  });

  it('opens no message that was cut or extended anywhere', () => {
    const text = largeText(40, 2);
    const [message] = sealed([text]);
    const pull = puller();
    for (let bytes = 0; bytes < message!.length; bytes += 1) {
      assert.equal(pull.pull(message!.subarray(0, bytes)), undefined);
      assert.equal(pull.pull(message!.subarray(message!.length - bytes)), undefined);
    }
    assert.equal(pull.pull(Uint8Array.of(...message!, 0)), undefined);
    assert.deepEqual(pull.pull(message!), text);
  });

  it('opens no message out of turn, twice, or after a missing one', () => {
    const [first, second, third] = sealed([1, 2, 3].map((seed) => largeText(20, seed)));
    const pull = puller();
    assert.equal(pull.pull(second!), undefined);
    assert.ok(pull.pull(first!));
    assert.equal(pull.pull(first!), undefined);
    assert.equal(pull.pull(third!), undefined);
    assert.ok(pull.pull(second!));
    assert.ok(pull.pull(third!));
  });

  it('opens nothing of another key, another header or the other direction', () => {
    const [message] = sealed([largeText(20, 1)]);
    const otherKey = KEY.slice();
    otherKey[31]! ^= 1;
    const otherHeader = HEADER.slice();
    otherHeader[23]! ^= 1;
    assert.equal(new SecretStreamPull(otherKey, HEADER).pull(message!), undefined);
    assert.equal(new SecretStreamPull(KEY, otherHeader).pull(message!), undefined);
  });

  it('takes keys and headers of the right length only', () => {
    assert.throws(() => new SecretStreamPush(KEY.subarray(1), HEADER), RangeError);
    assert.throws(() => new SecretStreamPull(KEY, HEADER.subarray(1)), RangeError);
  });

  it('is longer than its messages by a fixed number of bytes, empty ones too', () => {
    for (const message of sealed([new Uint8Array(0), largeText(1, 1)])) {
      assert.ok([STREAM_OVERHEAD_BYTES, STREAM_OVERHEAD_BYTES + 1].includes(message.length));
    }
    const push = new SecretStreamPush(KEY, HEADER);
    assert.equal(push.push(new Uint8Array(0), STREAM_TAGS.final).length, STREAM_OVERHEAD_BYTES);
  });
});
