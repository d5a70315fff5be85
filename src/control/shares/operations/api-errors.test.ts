import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '#base';
import { PasswordQueueFull } from '../../credentials/passwords/mod.ts';
import { refusalOf } from './api-errors.ts';

test('a policy whose passwords cannot be hashed now is refused as too many requests, with the time to wait', () => {
  assert.deepEqual(refusalOf(new PasswordQueueFull(), 'setSharePolicy', silentLog), {
    status: 429,
    body: { error: 'rate_limited', message: 'Too many requests' },
    headers: { 'retry-after': '15' },
  });
});
