import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseWebOrigin } from './web-origin.ts';

test('origins are read in the form in which browsers send them', () => {
  assert.equal(parseWebOrigin('https://App.Example.com'), 'https://app.example.com');
  assert.equal(parseWebOrigin('https://app.example.com:443'), 'https://app.example.com');
  assert.equal(parseWebOrigin('http://app.example.com:8080'), 'http://app.example.com:8080');
  assert.equal(parseWebOrigin('http://[::1]:80'), 'http://[::1]');
});

test('a text that no browser sends as an origin is none', () => {
  for (const text of ['*', 'null', '', 'app.example.com', 'https://a.example/', 'https://a.example/x'])
    assert.equal(parseWebOrigin(text), undefined, text);
  for (const text of [
    'ftp://a.example',
    'https://*.example.com',
    'https://u@a.example',
    'https://a.example:0',
  ])
    assert.equal(parseWebOrigin(text), undefined, text);
});
