import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { ERROR_KINDS } from '#base';
import { fakeApi, runCli, type FakeAnswer, type FakeApi } from './cli-fixture.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

async function openApi(
  answer: (request: { method: string; url: string; body: string }) => FakeAnswer,
): Promise<FakeApi> {
  const api = await fakeApi(answer);
  cleanups.push(() => api.close());
  return api;
}

const account = {
  FRONTDOOR_ACCOUNT_ID: 'acc',
  FRONTDOOR_API_TOKEN: 'tok',
  FRONTDOOR_ID: '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11',
};
const client = {
  FRONTDOOR_CLIENT_ID: 'cli',
  FRONTDOOR_CLIENT_SECRET: 'sec',
  FRONTDOOR_ID: '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11',
};

test('every status of a refusal becomes the exit status of its kind, with the message on standard error', async () => {
  const codes: Readonly<Record<number, number>> = {
    400: 2,
    401: 3,
    403: 4,
    404: 5,
    405: 2,
    408: 8,
    409: 6,
    412: 6,
    413: 2,
    415: 2,
    422: 2,
    429: 7,
    500: 70,
    502: 8,
    503: 8,
    504: 8,
    599: 70,
  };
  for (const { status } of Object.values(ERROR_KINDS))
    assert.ok(status in codes || [421, 431].includes(status));
  for (const [status, code] of Object.entries(codes)) {
    const json = { error: 'some_code', message: `refused by ${status}` };
    const api = await openApi(() => ({ status: Number(status), json }));
    const args = ['frontdoors', 'get', '--api', api.url];
    assert.deepEqual(await runCli(args, account), {
      out: '',
      err: `frontdoor: refused by ${status}\n`,
      code,
    });
    const asJson = await runCli([...args, '--json'], account);
    assert.deepEqual({ ...asJson, err: JSON.parse(asJson.err) as unknown }, { out: '', err: json, code });
  }
});

test('an answer of another server is an error, and so is a busy one, with the time to wait', async () => {
  const odd = await openApi(() => ({ status: 502, json: ['<html>'] }));
  assert.match((await runCli(['frontdoors', 'get', '--api', odd.url], account)).err, /answered 502/);
  const busy = await openApi(() => ({
    status: 429,
    json: { message: 'Too many' },
    headers: { 'retry-after': '7' },
  }));
  assert.equal(
    (await runCli(['frontdoors', 'get', '--api', busy.url], account)).err,
    'frontdoor: Too many; retry in 7 s\n',
  );
  busy.close();
  const away = await runCli(['frontdoors', 'get', '--api', busy.url], account);
  assert.equal(away.code, 8);
  assert.match(away.err, /cannot be reached: .*; the address is from --api\. Check that the control plane/);
});

test('control characters of an answer do not reach the terminal', async () => {
  const api = await openApi(() => ({
    status: 409,
    json: { error: 'conflict', message: 'a\u001B[2Jb\u202Ec\n' },
  }));
  const { err } = await runCli(['frontdoors', 'get', '--api', api.url], account);
  assert.equal(err, 'frontdoor: a\uFFFD[2Jb\uFFFDc\uFFFD\n');
  const named = await openApi(() => ({ status: 200, json: { id: 'f', name: 'x\u001B]0;title\u0007' } }));
  assert.doesNotMatch(
    (await runCli(['frontdoors', 'get', '--api', named.url], account)).out,
    /(?!\n)\p{Cc}/u,
  );
});

test('an account shows its token, a client fetches one bearer token for the whole command', async () => {
  let page = 0;
  const api = await openApi(({ url }) => {
    if (url === '/base/oauth/token')
      return { status: 200, json: { access_token: 'JWT', expires_in: 3_600, scope: '' } };
    const content = page < 2 ? Array.from({ length: 200 }, (_, id) => ({ id: `${page}-${id}` })) : [];
    page += 1;
    return { status: 200, json: { content } };
  });
  const args = ['environments', 'list', '--json-lines', '--api', `${api.url}/base/`];
  const listed = await runCli(args, client);
  assert.equal(listed.out.split('\n').length - 1, 400, listed.err);
  const [token, ...pages] = api.seen;
  assert.deepEqual(JSON.parse(token!.body), {
    grant_type: 'client_credentials',
    client_id: 'cli',
    client_secret: 'sec',
    audience: `${api.url}/base/frontdoor`,
  });
  assert.deepEqual(
    pages.map(({ request }) => request.headers.authorization),
    ['Bearer JWT', 'Bearer JWT', 'Bearer JWT'],
  );
  await runCli(args, account);
  assert.equal(api.seen.at(-1)!.request.headers.authorization, 'Basic acc:tok');
});

test('a bearer token that is refused is replaced once', async () => {
  const tokens = ['old', 'new'];
  const api = await openApi(({ url }) =>
    url === '/oauth/token'
      ? { status: 200, json: { access_token: tokens.shift() ?? 'more', expires_in: 1, scope: '' } }
      : { status: tokens.length === 1 ? 401 : 200, json: { id: 'f', name: 'n' } },
  );
  const ran = await runCli(['frontdoors', 'get', '--api', api.url], client);
  assert.equal(ran.code, 0, ran.err);
  const revoked = await openApi(({ url }) =>
    url === '/oauth/token'
      ? { status: 200, json: { access_token: 'x' } }
      : { status: 401, json: { message: 'no' } },
  );
  assert.equal((await runCli(['frontdoors', 'get', '--api', revoked.url], client)).code, 3);
  assert.equal(revoked.seen.length, 4);
});

test('credentials go over https only, but on this machine, and to no address that is none', async () => {
  for (const url of [
    'http://192.0.2.1:1',
    'http://control.example.com',
    'ftp://u:hunter2@127.0.0.1',
    'nothing',
  ]) {
    const ran = await runCli(['frontdoors', 'get', '--api', url], account);
    assert.equal(ran.code, 2);
    assert.match(ran.err, /must use https|is not an http or https address/);
    assert.doesNotMatch(ran.err, /hunter2/);
  }
});

test('operations without credentials are called without, even when nobody is logged in', async () => {
  const api = await openApi(() => ({ status: 200, json: { openapi: '3.1.0' } }));
  assert.equal((await runCli(['api', 'openapi', '--api', api.url])).code, 0);
  assert.equal(api.seen[0]!.request.headers.authorization, undefined);
  const guarded = await runCli(['shares', 'list', '--api', api.url]);
  assert.deepEqual(guarded, {
    out: '',
    err: 'frontdoor: not signed in: run "frontdoor login", or set FRONTDOOR_ACCOUNT_ID and FRONTDOOR_API_TOKEN\n',
    code: 3,
  });
});

test('a token that an API account is refused comes with what the organization has to allow', async () => {
  const json = { error: 'invalid_client', message: 'Client credentials are missing or invalid' };
  const api = await openApi(() => ({ status: 401, json }));
  const ofAccount = await runCli(['token', '--api', api.url], account);
  assert.equal(ofAccount.code, 3);
  assert.match(ofAccount.err, /organizations change-settings --token-exchange/);
  const ofClient = await runCli(['token', '--api', api.url], client);
  assert.doesNotMatch(ofClient.err, /token-exchange/);
});
