import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactedBody, redactedHeaders, redactedTarget } from './redaction.ts';

const NONE = { headers: [], parameters: [] };
const SECRET = 'planted-secret';

test('no header that may hold a secret shows its value, in any spelling', () => {
  const names = [
    'Authorization',
    'AUTHORIZATION',
    'Cookie',
    'Set-Cookie',
    'Proxy-Authorization',
    'proxy_auth',
    'Frontdoor-Identity',
    'frontdoor_identity',
    'X-Api-Key',
    'X_API_KEY',
    'X-Auth-Token',
    'X-CSRF-Token',
    'X-Secret-Thing',
    'Db-Password',
    'X-Amz-Security-Token',
    'X-Hub-Signature-256',
    'X-Session-Id',
    'X-Auth',
  ];
  for (const name of names)
    assert.deepEqual(redactedHeaders([[name, SECRET]], NONE), [[name, '********']], name);
  const plain = ['Accept', 'Content-Type', 'User-Agent', 'X-Request-Id', 'Cache-Control', 'Author', 'Host'];
  for (const name of plain) assert.deepEqual(redactedHeaders([[name, 'seen']], NONE), [[name, 'seen']], name);
});

test('addresses in headers show no secret of their query, fragment or user', () => {
  const cases: readonly (readonly [address: string, shown: string])[] = [
    [`https://a/b?code=${SECRET}&page=2`, 'https://a/b?code=********&page=2'],
    [`https://a/b?page=2#access_token=${SECRET}&x=1`, 'https://a/b?page=2#access_token=********&x=1'],
    [`https://a/#id_token=${SECRET}`, 'https://a/#id_token=********'],
    [`https://ann:${SECRET}@a/b`, 'https://********@a/b'],
    [`/next?state=${SECRET}`, '/next?state=********'],
    ['/plain/path', '/plain/path'],
  ];
  for (const [address, shown] of cases)
    for (const name of ['Location', 'referer'])
      assert.deepEqual(redactedHeaders([[name, address]], NONE), [[name, shown]]);
});

test('parameters are recognized by their name, encoded or not; unreadable ones are not shown', () => {
  const secrets = { headers: [], parameters: ['k'] };
  const cases: readonly (readonly [query: string, shown: string])[] = [
    [`token=${SECRET}`, 'token=********'],
    [`to%6ben=${SECRET}`, 'to%6ben=********'],
    [`user[password]=${SECRET}`, 'user[password]=********'],
    [`K=${SECRET}`, 'K=********'],
    [`%zz=${SECRET}`, '%zz=********'],
    ['a=1&b=&c', 'a=1&b=&c'],
    [`api_key`, '********'],
    [`a=1=2&secret=x=${SECRET}`, 'a=1=2&secret=********'],
  ];
  for (const [query, shown] of cases) assert.equal(redactedTarget(`/x?${query}`, secrets), `/x?${shown}`);
});

test('bodies of forms and JSON lose their secret fields at any depth, and are not shown when they cannot be read', () => {
  const shown = (text: string, contentType: string, more: object = {}): string | undefined => {
    const facts = { contentType, contentEncoding: '', isWhole: true, secrets: NONE, ...more };
    const body = redactedBody(Buffer.from(text), facts);
    return body === undefined ? undefined : Buffer.from(body).toString();
  };
  const json = 'application/json';
  assert.equal(
    shown(`{"a":[{"b":{"clientSecret":"${SECRET}"}}],"c":1}`, 'Application/JSON; charset=utf-8'),
    '{"a":[{"b":{"clientSecret":"********"}}],"c":1}',
  );
  assert.equal(shown(`{"tokens":["${SECRET}"]}`, json), '{"tokens":"********"}');
  // What holds no secret stays byte for byte.
  assert.equal(shown('{ "a" : 1.0 }', json), '{ "a" : 1.0 }');
  assert.equal(
    shown(`a=1&access_token=${SECRET}`, 'application/x-www-form-urlencoded'),
    'a=1&access_token=********',
  );
  assert.equal(shown('<p>text</p>', 'text/html'), '<p>text</p>');
  for (const [text, type, more] of [
    [`{"token":"${SECRET}"`, json, {}],
    [`{"token":"${SECRET}"}`, json, { isWhole: false }],
    [`{"token":"${SECRET}"}`, json, { contentEncoding: 'gzip' }],
    [`{"token":"${SECRET}"}\n{}`, 'application/x-ndjson', {}],
    [`{"token":"${SECRET}"}\n{}`, 'application/jsonl', {}],
    [`token=${SECRET}`, 'application/x-www-form-urlencoded', { isWhole: false }],
    [`--x\r\n\r\n${SECRET}`, 'multipart/form-data; boundary=x', {}],
    [`token=${SECRET}`, '', {}],
  ] as const)
    assert.equal(shown(text, type, more), undefined, `${type} ${text}`);
});
