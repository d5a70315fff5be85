// Which pages and commands a typed text finds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ranked } from './search-ranking.ts';

const entries = [
  { name: 'Console sign-in' },
  { name: 'Sign out', words: 'log out everywhere' },
  { name: 'Sessions', words: 'log out end devices' },
  { name: 'Design' },
];
const found = (typed: string) => {
  const { strong, weak } = ranked(entries, typed);
  return [strong, weak].map((each) => each.map(({ name }) => name));
};

test('names that begin with the typed text come first, then words of a name that do, and weaker matches apart', () => {
  assert.deepEqual(found('sign'), [['Sign out', 'Console sign-in'], ['Design']]);
  assert.deepEqual(found('SE'), [['Sessions'], []]);
  assert.deepEqual(found('  sign   '), found('sign'));
});

test('further words are found in any order, as weak matches', () => {
  assert.deepEqual(found('out log'), [[], ['Sign out', 'Sessions']]);
  assert.deepEqual(found('everywhere'), [[], ['Sign out']]);
  assert.deepEqual(found('elsewhere'), [[], []]);
});

test('an empty text leaves all entries in their order', () => {
  assert.deepEqual(found(' '), [entries.map(({ name }) => name), []]);
});
