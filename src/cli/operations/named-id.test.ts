// Names instead of ids: wherever the API asks for an id of something that has a name.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { operations, type Operation } from '#contract';
import { fakeApi, runCli, type FakeApi, type Ran } from '../cli-fixture.ts';
import { NAMED_THINGS } from './named-thing-table.ts';

const FRONTDOOR = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const ORGANIZATION = '3b0e4c5d-6f7a-4b8c-9d0e-1f2a3b4c5d6e';
const LAB = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';
const TWINS = ['7f0c9d1e-1a2b-4c3d-8e4f-5a6b7c8d9e0f', '8a1d0e2f-2b3c-4d4e-9f50-6b7c8d9e0f1a'] as const;
const door = `/frontdoor/${FRONTDOOR}`;

const lists: Readonly<Record<string, readonly object[]>> = {
  [`${door}/environments`]: [
    { id: LAB, name: 'lab' },
    { id: TWINS[0], name: 'twin' },
    { id: TWINS[1], name: 'twin' },
    { id: 'short-id', name: 'other' },
    { id: TWINS[0], name: 'short-id' },
  ],
  [`${door}/agents`]: [{ id: LAB, name: 'lab' }],
  [`${door}/auth-providers`]: [{ id: LAB, name: 'staff' }],
  [`${door}/frontends`]: [{ id: 'fe', publicName: 'default', urlTemplate: 'https://{token}.share.example' }],
  [`${door}/custom-frontends`]: [{ id: LAB, hostname: 'apps.example.com' }],
  '/api-accounts': [{ id: LAB, name: 'build' }],
  '/organizations': [{ id: ORGANIZATION, name: 'partners' }],
  [`/organizations/${ORGANIZATION}/frontdoors`]: [{ id: FRONTDOOR, name: 'edge' }],
};

let api: FakeApi;
before(async () => {
  api = await fakeApi(({ url, method }) => {
    const { pathname } = new URL(url, 'http://api');
    if (pathname === '/caller')
      return { status: 200, json: { id: 'a', organizationId: ORGANIZATION, scopes: [] } };
    if (method === 'DELETE') return { status: 204 };
    const list = lists[pathname];
    if (list === undefined || method !== 'GET') return { status: 200, json: { id: '1' } };
    return { status: 200, json: pathname.endsWith('/frontends') ? list : { content: list } };
  });
});
beforeEach(() => void (api.seen.length = 0));
after(() => api.close());

function run(...line: readonly string[]): Promise<Ran> {
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', FRONTDOOR_ID: FRONTDOOR };
  return runCli([...line, '--api', api.url], env);
}

async function sent(...line: readonly string[]): Promise<string> {
  const ran = await run(...line);
  assert.equal(ran.code, 0, `${line.join(' ')}: ${ran.err}`);
  const { method, url, body } = api.seen.at(-1)!;
  return `${method} ${url}${body === '' ? '' : ` ${body}`}`;
}

test('a name stands for the id in arguments, fields, lists of ids, and options', async () => {
  assert.equal(await sent('environments', 'get', 'lab'), `GET ${door}/environments/${LAB}`);
  assert.equal(await sent('agents', 'delete', 'lab'), `DELETE ${door}/agents/${LAB}`);
  assert.equal(
    await sent('custom-frontends', 'delete', 'apps.example.com'),
    `DELETE ${door}/custom-frontends/${LAB}`,
  );
  assert.equal(await sent('api-accounts', 'rotate', 'build'), `POST /api-accounts/${LAB}/rotate {}`);
  assert.equal(await sent('organizations', 'get', 'partners'), `GET /organizations/${ORGANIZATION}`);
  assert.equal(await sent('frontdoors', 'get', 'edge'), `GET ${door}`);
  assert.equal(await sent('shares', 'get', 'app', '--frontdoor', 'edge'), `GET ${door}/shares/app`);
  assert.equal(
    await sent('frontdoors', 'create', '--name', 'x', '--organization', 'partners'),
    `POST /frontdoor {"name":"x","organizationId":"${ORGANIZATION}"}`,
  );
  assert.equal(
    await sent('auth-providers', 'sessions', 'end', 'staff', TWINS[0]),
    `DELETE ${door}/auth-providers/${LAB}/sessions/${TWINS[0]}`,
  );
  const fields = [
    '--auth-provider-id',
    'staff',
    '--grant',
    'lab',
    '--grant',
    TWINS[1],
    '--frontend-id',
    'default',
  ];
  assert.equal(
    await sent('shares', 'change', 'app', ...fields),
    `PATCH ${door}/shares/app ${JSON.stringify({
      frontendIds: ['fe'],
      authProviderIds: [LAB],
      grants: [LAB, TWINS[1]],
    })}`,
  );
  assert.equal(
    await sent('shares', 'change', 'app', '--body', '{"authProviderIds":["staff"]}'),
    `PATCH ${door}/shares/app {"authProviderIds":["${LAB}"]}`,
  );
  assert.match(
    await sent('shares', 'who-can-reach', 'app', '--provider-id', 'staff', '--json'),
    new RegExp(LAB),
  );
});

test('a text that has the form of an id, or is one in the list, is taken as an id before a name', async () => {
  assert.equal(await sent('environments', 'get', LAB), `GET ${door}/environments/${LAB}`);
  assert.equal(api.seen.length, 1, 'a UUID is not looked up');
  assert.equal(await sent('environments', 'get', 'short-id'), `GET ${door}/environments/short-id`);
});

test('a name of several things lists their ids, and one of nothing the nearest names; nothing is sent', async () => {
  const twin = await run('environments', 'delete', 'twin');
  assert.equal(twin.code, 2);
  assert.match(twin.err, new RegExp(`several environments are called twin: .*${TWINS[0]}, ${TWINS[1]}`));
  const none = await run('environments', 'delete', 'lap');
  assert.equal(none.code, 2);
  assert.match(none.err, /there is no environment called lap; the nearest names are lab, /);
  assert.ok(api.seen.every(({ method }) => method === 'GET'));
});

test('every list whose entries have an id and a name is known, so that its names are taken', () => {
  const known = new Set(NAMED_THINGS.map(({ path }) => path));
  // Sessions end by what their person is called, which is no name of one session.
  const others = new Set(['/frontdoor/{frontdoorId}/auth-providers/{id}/sessions']);
  for (const { method, path, answer } of operations as readonly Operation[]) {
    const schema: ListSchema | undefined = answer.schema;
    const entry = (schema?.items ?? schema?.properties?.['content']?.items)?.properties;
    if (method !== 'GET' || entry?.['id'] === undefined || others.has(path)) continue;
    const isNamed = ['name', 'hostname', 'publicName'].some((name) => entry[name] !== undefined);
    assert.equal(known.has(path), isNamed, path);
  }
});

interface ListSchema {
  readonly items?: ListSchema;
  readonly properties?: Readonly<Record<string, ListSchema>>;
}
