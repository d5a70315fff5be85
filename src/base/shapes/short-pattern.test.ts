import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortPatternOf } from './short-pattern.ts';

function matches(pattern: unknown, text: string): boolean {
  const found = shortPatternOf(pattern);
  assert.equal(typeof found, 'function', String(found));
  return (found as (text: string) => boolean)(text);
}

test('a pattern selects as a regular expression does, anywhere in the text', () => {
  assert.equal(matches('.*', 'anything'), true);
  assert.equal(matches('^(west|east)-\\d$'.replace('\\d', '[0-9]'), 'east-1'), true);
  assert.equal(matches('^(?:west|east)$', 'north'), false);
  assert.equal(matches('l\\/a\\.b', 'l/a.b'), true);
  assert.equal(matches('a\\(b\\)', 'a(b)'), true);
  assert.equal(matches(undefined, ''), true);
  assert.equal(matches('a', 'a'.repeat(300)), false, 'a text that is too long');
});

test('patterns whose search can be long are refused', () => {
  for (const pattern of [
    '(a+)+',
    '(a|a)*',
    '(a)?',
    '(?=a)',
    '(?i)a',
    '(?<n>a)',
    'a{9}',
    '.*.*.*',
    '\\1',
    '[',
    '(',
    3,
  ])
    assert.equal(typeof shortPatternOf(pattern), 'string', String(pattern));
  assert.match(String(shortPatternOf('x'.repeat(201))), /more than 200 characters/);
});
