// Which methods a path is said to have.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowedMethods } from './allowed-methods.ts';

test('a path has the methods of its operations, HEAD with GET, and OPTIONS', () => {
  assert.deepEqual(allowedMethods('/frontdoor?organizationId=x', ''), ['GET', 'HEAD', 'OPTIONS', 'POST']);
  assert.deepEqual(allowedMethods('/api/frontdoor/1/shares/a', '/api'), [
    'DELETE',
    'GET',
    'HEAD',
    'OPTIONS',
    'PATCH',
  ]);
});

test('a streamed GET has no HEAD, which would do all of the work for nothing', () => {
  assert.deepEqual(allowedMethods('/backup', ''), ['GET', 'OPTIONS']);
  assert.deepEqual(allowedMethods('/docs', ''), ['GET', 'HEAD', 'OPTIONS']);
});

test('a path that is not there has none', () => {
  for (const path of ['/', '/frontdoors', '/frontdoor/', '/frontdoor//shares', '/openapiXjson', '/docs/']) {
    assert.deepEqual(allowedMethods(path, ''), [], path);
  }
  assert.deepEqual(allowedMethods('/frontdoor', '/api'), []);
});

test('a fixed path does not have the methods of an id that is spelled like it', () => {
  assert.deepEqual(allowedMethods('/frontdoor/1/agents/enrollments', ''), ['GET', 'HEAD', 'OPTIONS', 'POST']);
  assert.deepEqual(allowedMethods('/frontdoor/1/agents/2', ''), ['DELETE', 'OPTIONS']);
});
