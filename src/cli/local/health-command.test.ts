// `frontdoor health`: the exit status by which a container's health check judges a program.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeApi, runCli } from '../cli-fixture.ts';

test('health is good while the program is ready, prints what fails, and passes on the checks to ignore', async (t) => {
  const state = { status: 200, body: { status: 'ready', checks: { routers: true } } };
  const api = await fakeApi(({ url }) =>
    url.startsWith('/health/live')
      ? { status: 200, json: { status: 'live' } }
      : { status: state.status, json: state.body },
  );
  t.after(() => api.close());
  const address = new URL(api.url).host;
  const good = await runCli(['health', address]);
  assert.deepEqual([good.code, good.out], [0, '{"status":"ready","checks":{"routers":true}}\n']);
  state.status = 503;
  state.body = { status: 'not-ready', checks: { routers: false } };
  const bad = await runCli(['health', address, '--ignore', 'routers', '--ignore', 'database']);
  assert.deepEqual([bad.code, bad.out], [1, '{"status":"not-ready","checks":{"routers":false}}\n']);
  assert.equal(api.seen.at(-1)!.url, '/health/ready?ignore=routers&ignore=database');
  assert.equal((await runCli(['health', address, '--live'])).code, 0);
});

test('another server that answers is not a healthy program', async (t) => {
  for (const answer of [
    { status: 200 },
    { status: 200, json: ['ready'] },
    { status: 200, json: { ok: true } },
  ]) {
    const api = await fakeApi(() => answer);
    t.after(() => api.close());
    const { code, err } = await runCli(['health', new URL(api.url).host]);
    assert.equal(code, 1);
    assert.match(err, /answered 200 without the health of a Frontdoor program: .*--metrics-listen/);
  }
});

test('health reports a program that does not answer, and an address of another form', async (t) => {
  const api = await fakeApi(() => undefined);
  t.after(() => api.close());
  const { code, err } = await runCli(['health', new URL(api.url).host]);
  assert.equal(code, 1);
  assert.match(err, /127\.0\.0\.1/);
  assert.equal((await runCli(['health', 'http://127.0.0.1:9100'])).code, 2);
});
