import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acceptedLanguage } from './accepted-language.ts';

test('a browser gets the offered language that it prefers, and else the first one', () => {
  const rows = [
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['de-CH, en;q=0.9', 'de'],
    ['en-US,en;q=0.9,de;q=0.8', 'en'],
    ['fr, de;q=0.5, en;q=0.7', 'en'],
    ['fr-FR;q=1.0, DE-de ; q=0.3', 'de'],
    ['de;q=0', 'en'],
    ['*, de;q=0.1', 'de'],
    ['<script>, de;q=2', 'en'],
    [`${'x,'.repeat(400)}de`, 'en'],
  ] as const;
  for (const [header, expected] of rows)
    assert.equal(acceptedLanguage(header, ['en', 'de']), expected, header ?? 'none');
});
