// `frontdoor fabric`: what the mesh does as tables, and what is named by a name.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { fakeApi, runCli, type FakeApi, type Ran } from '../cli-fixture.ts';
import type { CliIo } from '../cli-io.ts';

const EAST = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';
const WEST = '1d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';
const DATABASE = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const SHORT = '2Yc4pQ8sWd6nTz3LmR9vXb';

const node = { createdAt: '2030-01-01T00:00:00.000Z', enrolled: true };
const router = { ...node, online: true, version: 'v1.7.2', connectedAt: node.createdAt };
const reached = { linkListeners: ['tls:127.0.0.1:10080'], edgeAddress: '127.0.0.1:3022' };
const LISTS: Readonly<Record<string, readonly object[]>> = {
  '/fabric/routers': [
    { id: EAST, name: 'east', ...router, ...reached },
    { id: WEST, name: 'twin', ...router, online: false, version: null, ...reached },
    { id: DATABASE, name: 'twin', ...router, ...reached },
  ],
  '/fabric/gateways': [{ id: EAST, name: 'gate', ...node }],
  '/fabric/services': [
    { id: DATABASE, name: 'database', terminatorStrategy: 'smartrouting', createdAt: node.createdAt },
  ],
  '/fabric/links': [
    {
      id: SHORT,
      sourceRouterId: EAST,
      sourceRouterName: 'east',
      destinationRouterId: WEST,
      destinationRouterName: 'west',
      protocol: 'tls',
      dialAddress: 'tls:127.0.0.1:10080',
      iteration: 1,
      staticCost: 1,
      sourceLatencyMs: 1,
      destinationLatencyMs: null,
      cost: 2,
      usable: true,
      connections: [],
    },
  ],
  '/fabric/circuits': [
    {
      id: SHORT,
      serviceId: DATABASE,
      serviceName: 'database',
      identityId: null,
      terminatorId: SHORT,
      routerIds: [EAST, WEST],
      routerNames: ['east', 'west'],
      linkIds: [SHORT],
      cost: 12,
      createdAt: node.createdAt,
    },
  ],
  '/fabric/terminators': [
    {
      id: SHORT,
      kind: 'fabric',
      serviceId: DATABASE,
      serviceName: 'database',
      routerId: EAST,
      routerName: 'east',
      binding: 'transport',
      address: 'tcp:127.0.0.1:5432',
      instanceId: '',
      cost: 7,
      dynamicCost: 0,
      precedence: 'default',
      healthy: true,
    },
  ],
};

let api: FakeApi;
before(async () => {
  api = await fakeApi(({ url, method }) => {
    const [path = ''] = url.split('?');
    if (method === 'DELETE') return { status: 204 };
    if (method === 'GET') return { status: 200, json: { content: LISTS[path] ?? [] } };
    if (path === '/fabric/inspect')
      return {
        status: 200,
        json: {
          values: [
            { routerId: EAST, name: 'links', value: { links: [] } },
            { routerId: EAST, name: 'stackdump', value: 'line 1\nline 2\u001b[2J' },
            { routerId: WEST, name: 'links', error: 'it did not answer in time' },
          ],
        },
      };
    return { status: 201, json: { id: SHORT } };
  });
});
beforeEach(() => void (api.seen.length = 0));
after(() => api.close());

function run(line: string, more: Partial<CliIo> = {}): Promise<Ran> {
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', NO_COLOR: '1' };
  return runCli([...line.split(' '), '--api', api.url], env, more);
}

const lastCall = (): readonly [string, unknown] => {
  const { method, url, body } = api.seen.at(-1)!;
  return [`${method} ${url}`, body === '' ? undefined : JSON.parse(body)];
};

for (const [list, shown] of [
  ['routers', ['NAME', 'ONLINE', 'VERSION', 'east', 'v1.7.2', EAST]],
  ['router list', ['NAME', 'ONLINE', 'east', EAST]],
  ['gateways', ['NAME', 'gate']],
  ['gateway list', ['NAME', 'gate']],
  ['links', ['COST', 'east', 'west', SHORT]],
  ['circuits', ['database', 'east, west', '12', SHORT]],
  ['services', ['database', 'smartrouting', DATABASE]],
  ['terminators', ['database', 'east', 'tcp:127.0.0.1:5432', '7', SHORT]],
] as const) {
  test(`fabric ${list} is a table that 80 columns hold, and with --json the entries themselves`, async () => {
    const { out, err, code } = await run(`fabric ${list}`, { columns: 80 });
    assert.equal(code, 0, err);
    for (const text of shown) assert.ok(out.includes(text), `${text} in\n${out}`);
    const lines = out.trimEnd().split('\n');
    assert.ok(
      lines.every((line) => line.length <= 80),
      out,
    );
    // A heading, and not a block of names and values for each entry.
    assert.match(lines[0]!, /^\S*ID\b.* {2}/);
    const asJson = await run(`fabric ${list} --json`);
    const path = new URL(api.seen.at(-1)!.url, api.url).pathname;
    assert.deepEqual(JSON.parse(asJson.out), LISTS[path]);
  });
}

test('an empty list is named on standard error', async () => {
  const list = LISTS['/fabric/links'] as object[];
  const kept = list.splice(0);
  assert.deepEqual(await run('fabric links'), { out: '', err: 'no links\n', code: 0 });
  list.push(...kept);
});

test('routers and services are named by name or id where a field or filter asks for them', async () => {
  await run('fabric terminator create database --router east --address tcp:127.0.0.1:5432 --cost 10');
  assert.deepEqual(lastCall(), [
    'POST /fabric/terminators',
    { serviceId: DATABASE, routerId: EAST, address: 'tcp:127.0.0.1:5432', cost: 10 },
  ]);
  api.seen.length = 0;
  await run(`fabric terminator create ${DATABASE} --router ${WEST} --address tls:h:1 --precedence failed`);
  assert.equal(api.seen.length, 1, 'nothing has to be looked up');
  assert.deepEqual(lastCall()[1], {
    serviceId: DATABASE,
    routerId: WEST,
    address: 'tls:h:1',
    precedence: 'failed',
  });
  await run('fabric circuits --router east --service database --limit 5');
  assert.equal(lastCall()[0], `GET /fabric/circuits?routerId=${EAST}&serviceId=${DATABASE}&page=0&size=5`);
});

test('a name that nothing or several things have is refused, and nothing is sent', async () => {
  const none = await run('fabric links --router nowhere');
  assert.deepEqual(none, {
    out: '',
    err: 'frontdoor: there is no router called nowhere; the nearest names are twin, east\n',
    code: 2,
  });
  const several = await run('fabric terminator create database --router twin --address tcp:h:1');
  assert.equal(several.code, 2);
  assert.match(several.err, new RegExp(`several routers are called twin: .*${WEST}, ${DATABASE}`));
  assert.ok(api.seen.every(({ method }) => method === 'GET'));
});

test('services are made, changed and deleted; circuits end', async () => {
  await run('fabric service create database --strategy weighted');
  assert.deepEqual(lastCall(), [
    'POST /fabric/services',
    { name: 'database', terminatorStrategy: 'weighted' },
  ]);
  await run(`fabric service change ${DATABASE} --name db`);
  assert.deepEqual(lastCall(), [`PATCH /fabric/services/${DATABASE}`, { name: 'db' }]);
  await run(`fabric terminator change ${SHORT} --cost 0 --address tcp:h:2`);
  assert.deepEqual(lastCall(), [`PATCH /fabric/terminators/${SHORT}`, { address: 'tcp:h:2', cost: 0 }]);
  assert.equal((await run(`fabric service delete ${DATABASE}`)).out, `deleted ${DATABASE}\n`);
  assert.equal((await run(`fabric circuit end ${SHORT}`)).out, `ended ${SHORT}\n`);
  assert.equal(lastCall()[0], `DELETE /fabric/circuits/${SHORT}`);
  assert.equal((await run(`fabric router delete ${EAST}`)).out, `deleted ${EAST}\n`);
});

test('inspections show each answer under its router and name, with nothing that moves the terminal', async () => {
  const { out } = await run('fabric inspect links stackdump --router east');
  assert.deepEqual(lastCall(), ['POST /fabric/inspect', { routerId: EAST, names: ['links', 'stackdump'] }]);
  assert.equal(
    out,
    `${EAST}  links\n{\n  "links": []\n}\n\n${EAST}  stackdump\nline 1\nline 2\uFFFD[2J\n\n` +
      `${WEST}  links\nfailed: it did not answer in time\n`,
  );
  await run('fabric inspect metrics');
  assert.deepEqual(lastCall()[1], { names: ['metrics'] });
  const json = JSON.parse((await run('fabric inspect links --json')).out) as { values: unknown[] };
  assert.equal(json.values.length, 3);
});
