import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRequestHead, RequestHead } from './request-head-policy.ts';

function read(head: RequestHead, host: string): string {
  return readRequestHead(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 100, head) ?? head.host;
}

test('every Host is judged, whatever the one before it was', () => {
  const head = new RequestHead();
  assert.equal(read(head, ''), 'malformed-host');
  assert.equal(read(head, 'App.Example:8080'), 'app.example');
  assert.equal(read(head, 'App.Example:8080'), 'app.example');
  assert.equal(read(head, 'app.example.'), 'app.example');
  assert.equal(read(head, 'app.example..'), 'malformed-host');
  assert.equal(read(head, 'app.example..'), 'malformed-host');
  assert.equal(read(head, ''), 'malformed-host');
  assert.equal(read(head, 'App.Example:8080'), 'app.example');
  assert.equal(read(head, 'other.example'), 'other.example');
});
