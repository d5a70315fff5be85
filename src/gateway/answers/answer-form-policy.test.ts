import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerForm, type AnswerForm } from './answer-form-policy.ts';

const ROWS: readonly (readonly [accept: string, form: AnswerForm, ofScript?: AnswerForm])[] = [
  // Chromium, Firefox, curl, wget, axios, jQuery, fetch, an image, Go, Python.
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', 'page'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'page'],
  ['*/*', 'text', 'json'],
  ['application/json, text/plain, */*', 'json'],
  ['application/json, text/javascript, */*; q=0.01', 'json'],
  ['image/avif,image/webp,*/*;q=0.8', 'text', 'json'],
  ['', 'text', 'json'],
  ['text/plain', 'text', 'json'],
  ['application/problem+json', 'problem'],
  ['application/problem+json, application/json;q=0.9', 'problem'],
  ['application/problem+json, application/json', 'json'],
  ['Application/JSON;q=0.9', 'json'],
  ['application/vnd.api+json', 'json'],
  ['application/jsonp', 'text', 'json'],
  ['text/html,application/json', 'page'],
  ['text/html;q=0.5, application/json', 'json'],
  ['text/html, application/json;q=0.9', 'page'],
  ['text/html;q=0, application/json;q=0.1', 'json'],
  ['application/json;q=0', 'text', 'json'],
  ['text/html;level=1;q=0.4, application/json;q=0.5', 'json'],
  ['application/json;q=nonsense', 'json'],
  [`${'a/b,'.repeat(100)}application/json`, 'text', 'json'],
  [',;,q=1;;', 'text', 'json'],
];

test('a failure has the form that its request prefers', () => {
  for (const [accept, form, ofScript = form] of ROWS) {
    assert.equal(answerForm({ accept, isScript: false }), form, accept);
    assert.equal(answerForm({ accept, isScript: true }), ofScript, `${accept} of a script`);
  }
});
