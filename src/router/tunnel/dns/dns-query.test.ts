import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../../test/support/fast-check.ts';
import { silentLog, systemClock } from '#base';
import { encodeEmptyAnswer } from './dns-answer.ts';
import { DnsQuery, Rcode } from './dns-query.ts';
import { DnsStreamDecoder, encodeStreamMessage } from './dns-stream.ts';
import { encodeName } from './host-name-codec.ts';
import { LATER, QueryResponder } from './query-responder.ts';
import type { InterceptedNames } from './intercepted-names.ts';
import { queryOf, readAnswer } from './testing/dns-messages.ts';
import { Upstreams } from './upstreams.ts';

const label = fc.stringMatching(/^[a-z0-9_-]{1,63}$/);
const name = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
const query = fc
  .record({
    name,
    type: fc.nat(65_535),
    id: fc.nat(65_535),
    ednsBytes: fc.option(fc.nat(65_535), { nil: undefined }),
  })
  .map(({ name: asked, ...options }) => queryOf(asked, options));

/** A message with some bytes changed, left out, or added. */
const mutated = fc
  .tuple(query, fc.array(fc.tuple(fc.nat(64), fc.nat(255))), fc.nat(80), fc.uint8Array({ maxLength: 40 }))
  .map(([message, changes, cut, tail]) => {
    const changed = Buffer.from(message);
    for (const [at, value] of changes) if (at < changed.length) changed[at] = value;
    return Buffer.concat([changed.subarray(0, changed.length - Math.max(0, cut - 40)), tail]);
  });

describe('a query', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(name, fc.nat(65_535), fc.nat(65_535), (asked, type, ednsBytes) => {
        const read = new DnsQuery();
        const message = queryOf(asked.toUpperCase(), { type, ednsBytes });
        assert.equal(read.decode(message), undefined);
        assert.deepEqual([read.name, read.type, read.class], [encodeName(asked), type, 1]);
        assert.deepEqual([read.hasEdns, read.maxUdpBytes], [true, Math.max(512, ednsBytes)]);
      }),
    );
  });

  it('that is malformed in any way gets a well-formed answer or none', () => {
    const names = { find: () => undefined, isCovered: () => false } as unknown as InterceptedNames;
    const options = { names, unanswerable: 'refused', clock: systemClock, log: silentLog } as const;
    const responder = new QueryResponder({ ...options, upstreams: new Upstreams([], 'parallel') });
    fc.assert(
      fc.property(
        fc.oneof(
          mutated,
          fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
        ),
        (message) => {
          const answer = responder.answer(message);
          assert.notEqual(answer, LATER);
          if (!Buffer.isBuffer(answer)) return;
          assert.equal(readAnswer(answer).id, message.readUInt16BE(0));
          assert.ok(answer.length <= message.length + 11, 'no answer is much longer than its query');
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('with several OPT records, or one among the answers, is malformed', () => {
    const good = queryOf('a.test', { ednsBytes: 1232 });
    const twice = Buffer.concat([good, good.subarray(-11)]);
    twice[11] = 2;
    const misplaced = Buffer.from(good);
    misplaced[7] = 1;
    misplaced[11] = 0;
    for (const message of [twice, misplaced]) assert.equal(new DnsQuery().decode(message), Rcode.FormErr);
  });
});

describe('an answer without records', () => {
  it('limits how long that may be kept', () => {
    const message = queryOf('a.test', { type: 28, ednsBytes: 512 });
    const read = new DnsQuery();
    read.decode(message);
    const { records } = readAnswer(encodeEmptyAnswer(message, read, Rcode.NoError, true));
    assert.deepEqual(
      records.map(({ type, ttl }) => [type, type === 6 ? ttl : 0]),
      [
        [6, 60],
        [41, 0],
      ],
    );
    assert.equal(records[0]!.data.readUInt32BE(records[0]!.data.length - 4), 60);
  });
});

describe('messages on a connection', () => {
  it('are whole in any cuts', () => {
    fc.assert(
      fc.property(
        fc.array(query),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
        (messages, cuts) => {
          const decoder = new DnsStreamDecoder();
          const stream = Buffer.concat(messages.map(encodeStreamMessage));
          const read: Buffer[] = [];
          for (let at = 0, turn = 0; at < stream.length; turn += 1) {
            const end = at + cuts[turn % cuts.length]!;
            decoder.push(stream.subarray(at, end));
            for (let next = decoder.next(); next !== undefined; next = decoder.next()) read.push(next);
            at = end;
          }
          assert.deepEqual(read, messages);
        },
      ),
    );
  });
});
