// Entity tags and idempotency keys on the command line, and creations that are sent again when no answer came.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { fakeApi, runCli, type FakeAnswer, type FakeApi } from '../cli-fixture.ts';

const ID = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const account = { FRONTDOOR_ACCOUNT_ID: 'acc', FRONTDOOR_API_TOKEN: 'tok', FRONTDOOR_ID: ID };
const create = ['frontdoors', 'create', '--name', 'a', '--organization', ID];
const created = { status: 201, json: { id: 'f', name: 'a' } };
const BROKEN = undefined;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** Answers the first request with the first answer, and so on; all others with the last. */
async function apiOf(...answers: readonly (FakeAnswer | undefined)[]): Promise<FakeApi> {
  let at = 0;
  const api = await fakeApi(() => answers[Math.min(at++, answers.length - 1)]);
  cleanups.push(() => api.close());
  return api;
}

const keysOf = ({ seen }: FakeApi): unknown[] =>
  seen.map(({ request }) => request.headers['idempotency-key']);

test('a creation whose connection broke is sent again with the same key, each command with another', async () => {
  const api = await apiOf(BROKEN, created);
  const ran = await runCli([...create, '--api', api.url], account);
  assert.equal(ran.code, 0, ran.err);
  const [key, again] = keysOf(api);
  assert.match(String(key), /^[0-9a-f-]{36}$/);
  assert.equal(again, key);
  assert.equal(api.seen[1]!.body, api.seen[0]!.body);
  const other = await apiOf(created);
  await runCli([...create, '--api', other.url], account);
  assert.notEqual(keysOf(other)[0], key);
});

test('a refused creation, a change and a read are sent once', async () => {
  for (const status of [400, 409, 429, 500]) {
    const api = await apiOf({ status, json: { message: 'refused' } });
    await runCli([...create, '--api', api.url], account);
    assert.equal(api.seen.length, 1, String(status));
  }
  for (const words of [
    ['frontdoors', 'get'],
    ['shares', 'change', 'app', '--target', 'http://a:1'],
  ]) {
    const api = await apiOf({ status: 503 });
    assert.equal((await runCli([...words, '--api', api.url], account)).code, 8);
    assert.deepEqual(keysOf(api), [undefined]);
  }
});

test('a router is made once, and its token is written, when the first answer is lost', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'condition-options-'));
  cleanups.push(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'east.jwt');
  const words = ['fabric', 'router', 'create', 'east', '-o', file, '--idempotency-key', 'east-1'];
  const api = await apiOf(BROKEN, { status: 201, json: { id: 'r', token: 'JWT' } });
  const ran = await runCli([...words, '--api', api.url], account);
  assert.equal(ran.code, 0, ran.err);
  assert.deepEqual(keysOf(api), ['east-1', 'east-1']);
  assert.equal(readFileSync(file, 'utf8'), 'JWT\n');
});

test('--etag prints the entity tag alone, and --if-match sends it as it is', async () => {
  const api = await apiOf(
    { status: 200, json: {}, headers: { etag: '"tag"' } },
    { status: 412, json: { error: 'precondition_failed', message: 'It has changed' } },
    { status: 204 },
  );
  const args = ['--api', api.url];
  assert.deepEqual(await runCli(['shares', 'policy', 'get', 'app', '--etag', ...args], account), {
    out: '"tag"\n',
    err: '',
    code: 0,
  });
  const set = ['shares', 'policy', 'set', 'app', '--body', '{}', '--if-match', '"tag"', ...args];
  assert.deepEqual(await runCli(set, account), { out: '', err: 'frontdoor: It has changed\n', code: 6 });
  assert.equal((await runCli(['shares', 'delete', 'app', '--if-match', '*', ...args], account)).code, 0);
  assert.deepEqual(
    api.seen.map(({ request }) => request.headers['if-match']),
    [undefined, '"tag"', '*'],
  );
});

test('an answer without an entity tag, and values that no header can carry, are refused', async () => {
  const api = await apiOf({ status: 200, json: {} });
  const args = ['--api', api.url];
  const without = await runCli(['shares', 'get', 'app', '--etag', ...args], account);
  assert.deepEqual([without.code, without.out], [8, '']);
  assert.match(without.err, /sent no ETag/);
  for (const words of [
    [...create, '--idempotency-key', 'two words'],
    [...create, '--idempotency-key', 'x'.repeat(256)],
    ['shares', 'delete', 'app', '--if-match', 'tag\n'],
    ['shares', 'get', 'app', '--etag', '--json'],
  ])
    assert.equal((await runCli([...words, ...args], account)).code, 2, words.join(' '));
  assert.equal(api.seen.length, 1);
});
