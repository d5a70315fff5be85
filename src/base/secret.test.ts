import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { HIDDEN, Secret, withoutUserInfo } from './secret.ts';

test('a secret is hidden in every text that is made of it, and revealed on request alone', () => {
  const secret = new Secret('hunter2');
  const holder = { secret, list: [secret] };
  const texts = [
    String(secret),
    JSON.stringify(holder),
    inspect(holder, { depth: 5, showHidden: true }),
    format('%s %j %o', secret, secret, secret),
    ['key', secret].join(' '),
    new Error(String(secret)).message,
  ];
  for (const text of texts) {
    assert.doesNotMatch(text, /hunter2/);
    assert.ok(text.includes(HIDDEN), text);
  }
  assert.equal(withoutUserInfo('a://u:hunter2@b/c@d and e://f'), 'a://(hidden)@b/c@d and e://f');
  assert.equal(secret.reveal(), 'hunter2');
  assert.deepEqual(Object.keys(structuredClone(secret)), []);
});
