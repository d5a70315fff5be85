import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FailedNetworks, ManualClock } from '#base';
import { GuestQueue } from './guest-queue.ts';

const MINUTE_MS = 60_000;

function open(maxWaiting = 100) {
  const clock = new ManualClock();
  const failures = new FailedNetworks(clock);
  const queue = new GuestQueue<string>(maxWaiting, failures);
  /** The next items, in their order. */
  const next = (count: number): (string | undefined)[] => Array.from({ length: count }, () => queue.shift());
  return { clock, failures, queue, next };
}

describe('guests who wait', () => {
  it('get turns by network, and within a network by address', () => {
    const { queue, next } = open();
    for (const item of ['a1', 'a2', 'a3', 'a4']) queue.push('192.0.2.1', item);
    queue.push('192.0.2.2', 'b1');
    queue.push('2001:db8:0:1::1', 'c1');
    queue.push('2001:db8:0:2::1', 'd1');
    assert.deepEqual(next(8), ['c1', 'a1', 'd1', 'b1', 'a2', 'a3', 'a4', undefined]);
    assert.equal(queue.size, 0);
  });

  it('of a network without failures come first every other time, however many others wait', () => {
    const { clock, failures, queue, next } = open();
    for (let at = 0; at < 50; at += 1) {
      queue.push(`10.0.${at}.1`, `guess ${at}`);
      failures.failed(`10.0.${at}.1`);
    }
    queue.push('192.0.2.1', 'known');
    assert.deepEqual(next(2), ['known', 'guess 0']);
    queue.push('192.0.2.1', 'known');
    queue.push('192.0.3.1', 'another');
    assert.deepEqual(next(5), ['known', 'guess 1', 'another', 'guess 2', 'guess 3']);
    clock.advance(15 * MINUTE_MS);
    queue.push('192.0.2.1', 'known');
    assert.deepEqual(next(2), ['guess 4', 'guess 5'], 'failures are forgotten');
  });

  it('of a network where fewest wait come first every other time, before the first guesses are judged', () => {
    const { queue, next } = open(200);
    for (let round = 0; round < 3; round += 1)
      for (let at = 0; at < 50; at += 1) queue.push(`10.0.${at}.1`, `guess ${at} ${round}`);
    queue.push('192.0.2.1', 'known');
    assert.deepEqual(next(1), ['known']);
    queue.push('192.0.2.1', 'known');
    const others = next(151);
    assert.ok(others.slice(0, 2).includes('known'));
    assert.equal(new Set(others).size, 151, 'nobody is forgotten');
  });

  it('of a network with failures get turns as well while others without keep coming', () => {
    const { failures, queue, next } = open();
    failures.failed('192.0.2.1');
    queue.push('192.0.2.1', 'mistyped');
    const order: (string | undefined)[] = [];
    for (let at = 0; at < 4; at += 1) {
      queue.push(`10.0.${at}.1`, `new ${at}`);
      order.push(...next(1));
    }
    assert.deepEqual(order.slice(0, 2), ['new 0', 'mistyped']);
  });

  it('of an office keep their places when networks that guess fill the queue', () => {
    const { failures, queue } = open(40);
    for (let at = 0; at < 12; at += 1) queue.push('192.0.2.1', `of the office ${at}`);
    for (let round = 0; round < 4; round += 1)
      for (let at = 0; at < 20; at += 1) {
        failures.failed(`10.0.${at}.1`);
        const lost = queue.push(`10.0.${at}.1`, `guess ${at} ${round}`);
        assert.ok(lost === undefined || lost.startsWith('guess'), String(lost));
      }
    assert.equal(queue.size, 40);
  });

  it('lose the latest of who has most waiting when the queue is full', () => {
    const { queue, next } = open(4);
    queue.push('192.0.2.1', 'a1');
    queue.push('192.0.2.1', 'a2');
    queue.push('192.0.2.2', 'a3');
    queue.push('198.51.100.1', 'b1');
    assert.equal(queue.push('203.0.113.1', 'c1'), 'a2');
    assert.equal(queue.push('203.0.113.1', 'c2'), 'c2');
    assert.equal(queue.push('192.0.2.1', 'a4'), 'a4');
    assert.equal(queue.size, 4);
    assert.deepEqual(next(5), ['b1', 'a1', 'c1', 'a3', undefined]);
  });

  it('of as many networks as there is room for lose none to a late one, except to one without failures', () => {
    const { failures, queue, next } = open(3);
    failures.failed('10.0.1.1');
    failures.failed('10.0.9.1');
    for (let at = 0; at < 3; at += 1) queue.push(`10.0.${at}.1`, `item ${at}`);
    assert.equal(queue.push('10.0.9.1', 'failed, too'), 'failed, too');
    assert.equal(queue.push('192.0.2.1', 'known'), 'item 1');
    assert.equal(queue.push('192.0.3.1', 'late'), 'late');
    assert.deepEqual(next(4), ['item 0', 'item 2', 'known', undefined]);
  });

  it('and leave make room, and change no order', () => {
    const { queue, next } = open(4);
    for (const item of ['a1', 'a2']) queue.push('192.0.2.1', item);
    queue.push('198.51.100.1', 'b1');
    queue.push('203.0.113.1', 'c1');
    queue.remove('192.0.2.1', 'a1');
    queue.remove('198.51.100.1', 'b1');
    queue.remove('198.51.100.1', 'b1');
    queue.remove('192.0.2.1', 'c1');
    assert.equal(queue.size, 2);
    assert.equal(queue.push('198.51.100.1', 'b2'), undefined);
    assert.deepEqual(next(4), ['a2', 'c1', 'b2', undefined]);
  });

  it('are many, and take no more room than there is', () => {
    const { failures, queue, next } = open(1_000);
    let displaced = 0;
    for (let at = 0; at < 20_000; at += 1) {
      const address = `10.${at % 7}.${(at >> 3) % 50}.${at % 200}`;
      if (queue.push(address, `item ${at}`) !== undefined) displaced += 1;
      if (at % 3 === 0) failures.failed(address);
    }
    assert.equal(queue.size, 1_000);
    assert.equal(displaced, 19_000);
    assert.equal(new Set(next(1_000)).size, 1_000);
    assert.equal(queue.shift(), undefined);
  });
});
