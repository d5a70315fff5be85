import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { textOf } from '#base';
import { PreambleDecoder, type PreambleOutcome } from './circuit-preamble-decoder.ts';

/** Feeds pieces of these sizes in turn until there is an outcome. Also returns the bytes after it. */
function decode(bytes: Uint8Array, sizes: readonly number[]): { outcome: PreambleOutcome; text: string } {
  const decoder = new PreambleDecoder();
  let outcome: PreambleOutcome = { kind: 'incomplete' };
  let at = 0;
  for (let turn = 0; at < bytes.length && outcome.kind === 'incomplete'; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    outcome = decoder.push(bytes.subarray(at, at + size));
    at += size;
  }
  const rest = outcome.kind === 'complete' ? textOf(outcome.rest) : '';
  return { outcome, text: rest + textOf(bytes.subarray(at)) };
}

test('whole, byte by byte and in random cuts it finds the same request, and all bytes behind it', () => {
  const bytes = Buffer.from('{"id":"me","svcId":"größe"}\nfirst\nsecond');
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 }), (sizes) => {
      for (const cut of [[bytes.length], [1], sizes]) {
        const { outcome, text } = decode(bytes, cut);
        assert.ok(outcome.kind === 'complete');
        assert.deepEqual(outcome.preamble, { id: 'me', serviceId: 'größe' });
        assert.equal(text, 'first\nsecond');
      }
    }),
  );
});

test('a line that is too long is refused before it ends, however it comes', () => {
  for (const sizes of [[10_000], [1], [100, 3]])
    assert.equal(decode(Buffer.alloc(10_000, 'x'), sizes).outcome.kind, 'malformed');
});

test('random bytes are a request or none, never an exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      assert.ok(
        ['incomplete', 'malformed', 'complete'].includes(decode(bytes, [bytes.length + 1]).outcome.kind),
      );
    }),
  );
});
