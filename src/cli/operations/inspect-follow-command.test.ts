// `frontdoor shares inspect follow`: each recorded request once, in the order in which they came, until recording ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeApi, runCli } from '../cli-fixture.ts';

const FRONTDOOR = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const INSPECTOR = `/frontdoor/${FRONTDOOR}/shares/app/inspector`;
const entry = (id: number) => ({
  id: `r${id}`,
  at: '2030-01-01T00:00:00.000Z',
  method: 'GET',
  target: `/${id}\u001b[2J`,
  status: 200,
  identity: null,
});

async function follow(options: readonly string[], looks: readonly (readonly number[])[]) {
  let look = -1;
  const api = await fakeApi(({ url }) => {
    if (url === INSPECTOR) return { status: 200, json: { enabled: look + 2 < looks.length } };
    assert.equal(url, `${INSPECTOR}/requests?page=0&size=200`);
    look += 1;
    return { status: 200, json: { content: looks[look]!.map(entry) } };
  });
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', FRONTDOOR_ID: FRONTDOOR };
  const ran = await runCli(['shares', 'inspect', 'follow', 'app', ...options, '--api', api.url], env);
  api.close();
  return ran;
}

test('prints what is recorded and what comes, each once, and ends with the recording', async () => {
  const { out, err, code } = await follow(
    ['--last', '1'],
    [
      [2, 1],
      [4, 3, 2, 1],
      [5, 4, 3],
    ],
  );
  assert.equal(code, 0, err);
  assert.deepEqual(
    out
      .trim()
      .split('\n')
      .map((line) => line.split('  ')[1]),
    ['r2', 'r3', 'r4', 'r5'],
  );
  assert.ok(!out.includes('\u001b'));
  assert.match(err, /Recording of app has ended/);
  const json = await follow(['--last', '0', '--json-lines'], [[1], [2, 1]]);
  assert.deepEqual(JSON.parse(json.out), entry(2));
});

test('without a recording the remedy is given', async () => {
  const { err, code } = await follow([], [[]]);
  assert.equal(code, 2);
  assert.match(err, /"frontdoor shares inspect on app" starts recording/);
});
