import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { XgressTicker, type TickingEnd } from './xgress-ticker.ts';

function boom(): never {
  throw new TypeError('boom');
}

function open(t: TestContext) {
  const ticker = new XgressTicker();
  t.after(() => ticker.close());
  const seen: string[] = [];
  const end = (circuitId: string, more: Partial<TickingEnd> = {}): TickingEnd => ({
    circuitId,
    tick: () => seen.push(`tick ${circuitId}`) > 0,
    flushAcknowledgements: () => void seen.push(`flush ${circuitId}`),
    destroy: () => void seen.push(`destroy ${circuitId}`),
    ...more,
  });
  return { ticker, seen, end };
}

test('an end that throws at a tick is destroyed, and the others are checked', (t) => {
  const { ticker, seen, end } = open(t);
  for (const one of [end('a'), end('b', { tick: boom }), end('c')]) ticker.watch(one);
  ticker.tick(1);
  assert.deepEqual(seen, ['tick a', 'destroy b', 'tick c']);
  assert.equal(ticker.watchedCount, 2);
});

test('an end that throws at its acknowledgements is destroyed, and the others send theirs', async (t) => {
  const { ticker, seen, end } = open(t);
  for (const one of [end('a', { flushAcknowledgements: boom, destroy: boom }), end('b')])
    ticker.acknowledgeLater(one);
  await new Promise((resolve) => void setImmediate(resolve));
  assert.deepEqual(seen, ['flush b']);
});
