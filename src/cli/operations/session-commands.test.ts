// `frontdoor auth-providers sessions`: what is sent, and that nothing ends that was not named.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { fakeApi, runCli, type FakeApi, type Ran } from '../cli-fixture.ts';

const FRONTDOOR = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const PROVIDER = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';
const SESSION = '7f0c9d1e-1a2b-4c3d-8e4f-5a6b7c8d9e0f';
const SESSIONS = `/frontdoor/${FRONTDOOR}/auth-providers/${PROVIDER}/sessions`;
const at = '2030-01-01T00:00:00.000Z';
const ann = {
  id: SESSION,
  subject: 'ann',
  email: 'ann@example.com',
  name: 'Ann',
  shareToken: 'app',
  host: 'app.example.com',
  createdAt: at,
  lastSeenAt: at,
  expiresAt: at,
};

let api: FakeApi;
let ended = 2;
before(async () => {
  api = await fakeApi(({ url, method }) => {
    if (method === 'GET')
      return {
        status: 200,
        json: { content: [ann], pageable: { pageNumber: 0, pageSize: 20 }, totalElements: 1, totalPages: 1 },
      };
    return url.startsWith(`${SESSIONS}/`) ? { status: 204 } : { status: 200, json: { ended } };
  });
});
beforeEach(() => void (api.seen.length = 0));
after(() => api.close());

function run(...args: string[]): Promise<Ran> {
  const env = {
    FRONTDOOR_ACCOUNT_ID: 'a',
    FRONTDOOR_API_TOKEN: 't',
    FRONTDOOR_ID: FRONTDOOR,
    NO_COLOR: '1',
  };
  return runCli(['auth-providers', 'sessions', ...args, '--api', api.url], env);
}

const lastCall = (): string => {
  const { method, url } = api.seen.at(-1)!;
  return `${method} ${url}`;
};

test('sessions are listed with who, where and until when', async () => {
  const { out, code } = await run('list', PROVIDER, '--email', 'ann@example.com');
  assert.equal(code, 0);
  for (const text of [SESSION, 'ann@example.com', 'app', at]) assert.ok(out.includes(text), out);
  assert.match(lastCall(), /sessions\?(.*&)?email=ann%40example\.com/);
  const { out: json } = await run('list', PROVIDER, '--json');
  assert.deepEqual(JSON.parse(json), [ann]);
});

test('one session ends by its id, a person’s by e-mail and subject, everyone’s by --all', async () => {
  assert.equal((await run('end', PROVIDER, SESSION)).out, `ended ${SESSION}\n`);
  assert.equal(lastCall(), `DELETE ${SESSIONS}/${SESSION}`);
  ended = 2;
  const { out } = await run('end', PROVIDER, '--email', 'ann+x@example.com', '--subject', 'a&all=true');
  assert.equal(out, 'ended 2 sessions\n');
  assert.equal(lastCall(), `DELETE ${SESSIONS}?email=ann%2Bx%40example.com&subject=a%26all%3Dtrue`);
  ended = 1;
  assert.equal((await run('end', PROVIDER, '--subject', 'ann')).out, 'ended 1 session\n');
  assert.deepEqual(JSON.parse((await run('end', PROVIDER, '--all', '--json')).out), { ended: 1 });
  assert.equal(lastCall(), `DELETE ${SESSIONS}?all=true`);
});

test('nothing ends when nobody, or more than one thing, is named', async () => {
  for (const wrong of [
    [],
    [''],
    [SESSION, '--all'],
    [SESSION, '--email', 'ann@example.com'],
    ['--all', '--subject', 'ann'],
  ]) {
    const { code, err } = await run('end', PROVIDER, ...wrong);
    assert.equal(code, 2, wrong.join(' '));
    assert.match(err, /choose the sessions to end|session-id is empty/);
  }
  assert.deepEqual(api.seen, []);
});
