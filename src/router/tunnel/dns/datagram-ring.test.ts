import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../../test/support/fast-check.ts';
import { within } from '../../../../test/support/deadline.ts';
import { DatagramRing } from './datagram-ring.ts';

const source = (value: number): Buffer => Buffer.alloc(28, value);

describe('a ring of datagrams', () => {
  it('returns what was written, in its order, whatever the lengths', () => {
    const lengths = fc.array(fc.record({ length: fc.oneof(fc.nat(100), fc.nat(65_535)), takes: fc.nat(3) }), {
      minLength: 1,
      maxLength: 200,
    });
    fc.assert(
      fc.property(lengths, (steps) => {
        const written = new DatagramRing();
        const read = new DatagramRing(written.shared);
        const expected: Buffer[] = [];
        const take = (): void => {
          const datagram = read.shift();
          const data = expected.shift();
          assert.deepEqual(datagram?.data, data);
          if (data !== undefined) assert.deepEqual(datagram!.source, source(data.length % 251));
        };
        steps.forEach(({ length, takes }, index) => {
          const data = Buffer.alloc(length, index);
          if (written.push(source(length % 251), data)) expected.push(data);
          else assert.ok(expected.length > 0, 'an empty ring has a place');
          for (let turn = 0; turn < takes; turn += 1) take();
        });
        while (expected.length > 0) take();
        assert.equal(read.shift(), undefined);
      }),
      { numRuns: 50 },
    );
  });

  it('that is full takes the next one when one was taken', () => {
    const ring = new DatagramRing();
    const data = Buffer.alloc(4_096);
    let count = 0;
    while (ring.push(source(1), data)) count += 1;
    assert.equal(count, Math.floor((256 * 1024) / (32 + 4_096)));
    assert.notEqual(ring.shift(), undefined);
    assert.notEqual(ring.shift(), undefined);
    assert.equal(ring.push(source(2), data), true);
  });

  it('wakes its reader with a datagram, and without one', async () => {
    const ring = new DatagramRing();
    const first = ring.wait();
    assert.notEqual(first, undefined);
    ring.push(source(1), Buffer.from('a'));
    await within('the datagram', first!);
    assert.equal(ring.wait(), undefined, 'there is one');
    ring.shift();
    const second = ring.wait();
    ring.wake();
    await within('the wake', second!);
    assert.equal(ring.shift(), undefined);
  });
});
