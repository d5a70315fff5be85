import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { decodePayload, encodePayloads } from './change-payload.ts';
import { EVERYTHING, type Change } from './store.ts';

describe('payloads of changes', () => {
  it('carry every change in order, cut so that the server takes each', () => {
    const changes: Change[] = Array.from({ length: 1_000 }, (_, i) => ({
      entity: i % 2 === 0 ? 'share' : 'auth-provider',
      id: i % 10 === 0 ? `"é\\漢😀 ${i}` : randomUUID(),
    }));
    const payloads = encodePayloads('t', changes);
    assert.ok(payloads.length > 5);
    for (const payload of payloads) assert.ok(Buffer.byteLength(payload) < 8_000);
    const decoded = payloads.map((payload) => decodePayload(payload)!);
    assert.deepEqual(
      decoded.flatMap((payload) => payload.changes),
      changes,
    );
    assert.ok(decoded.every(({ transactionId }) => transactionId === 't'));
  });

  it('of very many changes state that anything may have changed', () => {
    const changes = Array.from({ length: 5_001 }, (_, i): Change => ({ entity: 'share', id: String(i) }));
    const [payload, ...more] = encodePayloads('t', changes);
    assert.deepEqual(decodePayload(payload!)?.changes, [EVERYTHING]);
    assert.deepEqual(more, []);
  });

  it('of someone else are not read', () => {
    for (const text of ['', 'x', '{}', '[]', '[1]', '["t","share"]', '["t","share",1]', 'null', '"t"']) {
      assert.equal(decodePayload(text), undefined, text);
    }
  });
});
