// The examples that AWS publishes for Signature Version 4.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '#base';
import { signAwsRequest, type AwsRequest } from './aws-signature.ts';

const key = { id: 'AKIDEXAMPLE', secret: new Secret('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY') };
const scope = { region: 'us-east-1', service: 'service', nowMs: Date.UTC(2015, 7, 30, 12, 36, 0) };
const host = { host: 'example.amazonaws.com' };

const EXAMPLES: readonly (readonly [name: string, request: AwsRequest, signature: string])[] = [
  [
    'get-vanilla',
    { method: 'GET', path: '/', headers: host },
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ],
  [
    'get-vanilla-query-order-key-case',
    { method: 'GET', path: '/', query: { Param2: 'value2', Param1: 'value1' }, headers: host },
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'post-vanilla',
    { method: 'POST', path: '/', headers: host },
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'post-x-www-form-urlencoded',
    {
      method: 'POST',
      path: '/',
      headers: { ...host, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'Param1=value1',
    },
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
];

for (const [name, request, signature] of EXAMPLES)
  test(`a request is signed as in the example ${name}`, () => {
    const { authorization = '', 'x-amz-date': date } = signAwsRequest(request, key, scope);
    assert.equal(date, '20150830T123600Z');
    assert.match(authorization, new RegExp(`, Signature=${signature}$`));
  });

test('a temporary key sends its session token, which is signed', () => {
  const temporary = { ...key, sessionToken: new Secret('session') };
  const headers = signAwsRequest({ method: 'GET', path: '/', headers: host }, temporary, scope);
  assert.equal(headers['x-amz-security-token'], 'session');
  assert.match(headers['authorization'] ?? '', /SignedHeaders=host;x-amz-date;x-amz-security-token,/);
});
