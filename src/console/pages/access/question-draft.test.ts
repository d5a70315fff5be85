// A question has what was filled in for the chosen kind of caller, and nothing else.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EMPTY_QUESTION, questionOf } from './question-draft.ts';
import { spanDraftOf, spanOf } from './span-draft.ts';

test('an empty form asks about a browser without a credential', () => {
  assert.deepEqual(questionOf(EMPTY_QUESTION), { path: '/', method: 'GET' });
});

test('a person is asked about even without an address, and other kinds of callers leave it out', () => {
  const filled = {
    ...EMPTY_QUESTION,
    email: ' ann@example.com ',
    groups: 'staff\n',
    keyName: 'ci',
    basicUser: 'bob',
    providerId: 'p',
    address: '192.0.2.7',
    claims: '{"department":"ops"}',
    emailVerified: false,
  };
  const common = { path: '/', method: 'GET', address: '192.0.2.7' };
  assert.deepEqual(questionOf({ ...filled, credential: 'person' }), {
    ...common,
    email: 'ann@example.com',
    emailVerified: false,
    providerId: 'p',
    groups: ['staff'],
    claims: { department: 'ops' },
  });
  assert.deepEqual(questionOf({ ...EMPTY_QUESTION, credential: 'person' }), {
    path: '/',
    method: 'GET',
    groups: [],
  });
  assert.deepEqual(questionOf({ ...filled, credential: 'key' }), {
    ...common,
    keyName: 'ci',
    providerId: 'p',
  });
  assert.deepEqual(questionOf({ ...filled, credential: 'basic' }), { ...common, basicUser: 'bob' });
  assert.deepEqual(questionOf({ ...filled, credential: 'none' }), common);
});

test('a preflight is a request of method OPTIONS, and claims are an object', () => {
  const preflight = { ...EMPTY_QUESTION, preflight: true };
  assert.deepEqual(questionOf(preflight), { path: '/', method: 'GET' });
  assert.deepEqual(questionOf({ ...preflight, method: 'OPTIONS' }), {
    path: '/',
    method: 'OPTIONS',
    preflight: true,
  });
  assert.equal(questionOf({ ...EMPTY_QUESTION, claims: '[1]' }), undefined);
  assert.equal(questionOf({ ...EMPTY_QUESTION, claims: '{' }), undefined);
});

test('lengths of time are shown in the largest unit in which they are whole', () => {
  const spans = ['PT8H', 'P7D', 'PT90M', 'PT1S', 'P365D', 'PT36H', 'PT0S', 'PT1.5S'];
  assert.deepEqual(
    spans.map((span) => spanOf(spanDraftOf(span))),
    ['PT8H', 'P7D', 'PT90M', 'PT1S', 'P365D', 'PT36H', 'P0D', 'PT1.5S'],
  );
  assert.deepEqual(spanDraftOf('P1DT12H30M'), { amount: '2190', unit: 'M' });
  assert.deepEqual(spanDraftOf('P1W'), { amount: '7', unit: 'D' });
  assert.equal(spanOf({ amount: ' 5 ', unit: 'M' }), 'PT5M');
});
