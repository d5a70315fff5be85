import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { test } from 'node:test';
import { within } from '../../../test/support/deadline.ts';
import { NameLookups } from './name-lookups.ts';

const FOUND: LookupAddress[] = [
  { address: '192.0.2.1', family: 4 },
  { address: '2001:db8::1', family: 6 },
];

function open() {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const lookups = new NameLookups((host, _options, done) => {
    asked.push(host);
    answers.push(() => done(null, FOUND));
  });
  const ask = (host: string): Promise<readonly LookupAddress[]> =>
    new Promise((resolve, reject) => {
      lookups.lookup(host, { all: true }, (error, addresses = []) =>
        error === null ? resolve(addresses) : reject(error),
      );
    });
  return { lookups, asked, answers, ask };
}

test('a name that is being resolved is not asked for again, until there is an answer', async () => {
  const { asked, answers, ask } = open();
  const waiting = [ask('a'), ask('a'), ask('b')];
  for (const answer of answers) answer();
  assert.deepEqual(await Promise.all(waiting), [FOUND, FOUND, FOUND]);
  void ask('a');
  assert.deepEqual(asked, ['a', 'b', 'a']);
});

test('names that nobody answers, and those who wait for one, are bounded', async () => {
  const { asked, answers, ask } = open();
  for (let i = 0; i < 256; i += 1) void ask(`name${i}`);
  await assert.rejects(ask('another'), { code: 'too-many-lookups' });
  for (let i = 1; i < 1_024; i += 1) void ask('name7');
  await assert.rejects(ask('name7'), { code: 'too-many-lookups' });
  assert.equal(asked.length, 256);
  answers[0]!();
  void ask('another');
  assert.equal(asked.length, 257);
});

test('sockets get the addresses of the family that they ask for', () => {
  const lookups = new NameLookups((_host, _options, done) => done(null, FOUND));
  const results: unknown[][] = [];
  const done = (...result: unknown[]): void => void results.push(result);
  lookups.forSockets('x', { all: true }, done);
  lookups.forSockets('x', { family: 6 }, done);
  lookups.forSockets('x', { family: 'IPv4' }, done);
  assert.deepEqual(results, [
    [null, FOUND],
    [null, '2001:db8::1', 6],
    [null, '192.0.2.1', 4],
  ]);
});

test('names that the resolver of the system does not resolve, or throws for, fail each time', async () => {
  const lookups = new NameLookups();
  for (const host of ['no-such-host.invalid', 'a\0b', 'a\0b']) {
    const outcomes = [{ all: true }, {}].map(async (options) => {
      const { promise, resolve } = Promise.withResolvers<unknown>();
      lookups.forSockets(host, options, resolve);
      return within('the look-up', promise);
    });
    for (const outcome of await Promise.all(outcomes)) assert.ok(outcome instanceof Error, host);
  }
});
