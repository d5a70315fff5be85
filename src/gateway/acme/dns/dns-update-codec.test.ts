// Messages of DNS UPDATE: what is written, and responses of every length and with random bytes. BIND takes them in test/e2e.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { fc } from '../../../../test/support/fast-check.ts';
import { decodeUpdateResponse, encodeDnsName, encodeTxtUpdate } from './dns-update-codec.ts';

const key = {
  name: 'key.example',
  algorithm: 'hmac-sha256',
  hmac: (message: Uint8Array) => new Uint8Array(createHmac('sha256', 'secret').update(message).digest()),
};
const update = { id: 0x1234, zone: 'example', name: 'a.example', value: 'v', ttl: 60, nowS: 1_700_000_000 };
const { message, mac } = encodeTxtUpdate(update, key);
const judged = { key, mac, nowS: update.nowS };

/** The request as a server would return it: its own signature does not count for the response. */
function response(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[2] = copy[2]! | 0x80;
  return copy;
}

describe('a DNS update', () => {
  it('has one zone and one record, which is added with its time to live, or removed by its class', () => {
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
    const added = '123428000001000000010001076578616d706c650000060001';
    assert.ok(hex(message).startsWith(added), hex(message));
    assert.ok(hex(message).includes('0161076578616d706c6500001000010000003c00020176'));
    const removed = encodeTxtUpdate({ ...update, ttl: undefined }, key).message;
    assert.ok(hex(removed).includes('0161076578616d706c6500001000fe0000000000020176'));
  });

  it('with a name or value that DNS cannot hold is refused', () => {
    for (const name of ['', 'a..b', `${'a'.repeat(64)}.b`, Array.from({ length: 130 }, () => 'a').join('.')])
      assert.throws(() => encodeDnsName(name), RangeError, name);
    assert.throws(() => encodeTxtUpdate({ ...update, value: 'v'.repeat(256) }, key), RangeError);
  });
});

describe('the response to a DNS update', () => {
  it('counts as signed with the hash of its bytes, key, time and request only', () => {
    assert.equal(decodeUpdateResponse(response(message), 0x1234, judged)?.isSigned, false);
    assert.equal(decodeUpdateResponse(response(message), 0x4321, judged), undefined);
    assert.equal(decodeUpdateResponse(message, 0x1234, judged), undefined, 'a request');
  });

  it('that is cut off or random is no signed response, and reads no byte behind its end', () => {
    const whole = response(message);
    for (let length = 0; length < whole.length; length += 1)
      assert.notEqual(decodeUpdateResponse(whole.subarray(0, length), 0x1234, judged)?.isSigned, true);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (tail) => {
        const bytes = Uint8Array.from([...whole.subarray(0, 12), ...tail]);
        assert.notEqual(decodeUpdateResponse(bytes, 0x1234, judged)?.isSigned, true);
      }),
    );
  });
});
