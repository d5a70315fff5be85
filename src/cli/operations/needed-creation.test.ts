// Commands that containers run at every start: what they create, and what they leave alone.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { fakeApi, runCli, type FakeApi, type Ran } from '../cli-fixture.ts';

const FRONTDOOR = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const folder = mkdtempSync(join(tmpdir(), 'needed-creation-'));
const file = (name: string): string => join(folder, name);

interface Row {
  readonly id: string;
  readonly name: string;
  enrolled?: boolean;
  state?: string;
}

let api: FakeApi;
/** What the installation has, by the last word of the path. */
let rows: Record<string, Row[]>;
/** Lifetime of the tokens that it gives. */
let lifetimeS: number;

before(async () => {
  api = await fakeApi(({ method, url, body }) => {
    const { pathname } = new URL(url, 'http://localhost');
    const listed = rows[pathname.split('/').at(-1)!];
    if (method === 'GET') return { status: 200, json: { content: listed } };
    if (method === 'DELETE') {
      const [id = '', list = ''] = pathname.split('/').reverse();
      rows[list] = rows[list]!.filter((row) => row.id !== id);
      return { status: 204 };
    }
    const made = { id: `id-${listed!.length}`, name: (JSON.parse(body) as Row).name };
    listed!.push({ ...made, enrolled: false, state: 'open' });
    const claims = { sub: made.id, exp: Date.now() / 1_000 + lifetimeS, ctrls: ['tls:control:6262'] };
    const token = `h.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.s`;
    const expiresAt = '2030-01-01T00:00:00.000Z';
    return { status: 201, json: { ...made, token, enrollmentCode: 'the-code', expiresAt } };
  });
});
after(() => {
  api.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  rows = { routers: [], gateways: [], environments: [], enrollments: [] };
  lifetimeS = 3_600;
  for (const name of ['east.jwt', 'east.yml', 'code']) rmSync(file(name), { force: true });
});

function run(...args: readonly string[]): Promise<Ran> {
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', FRONTDOOR_ID: FRONTDOOR };
  return runCli([...args, '--api', api.url, '--if-needed'], env);
}

const router = (): Promise<Ran> =>
  run('fabric', 'router', 'create', 'east', '--config', file('east.yml'), '--advertise', 'east.example.com');
const gateway = (): Promise<Ran> => run('fabric', 'gateway', 'create', 'east', '--out', file('east.jwt'));
const agent = (): Promise<Ran> => run('agents', 'enroll', '--name', 'east', '--out', file('code'));

test('a router is created once, and left alone while it can enroll and when it is enrolled', async () => {
  assert.match((await router()).out, /router east \(id-0\); its enrollment token is in/);
  const token = readFileSync(file('east.jwt'), 'utf8');
  assert.match(readFileSync(file('east.yml'), 'utf8'), /endpoint: "tls:control:6262"/);
  assert.match((await router()).out, /^router east can enroll with /);
  rows['routers']![0]!.enrolled = true;
  assert.equal((await router()).out, 'router east is enrolled\n');
  assert.equal(readFileSync(file('east.jwt'), 'utf8'), token);
  assert.equal(rows['routers']!.length, 1);
});

test('a node whose token is lost or has expired is replaced with its files', async () => {
  await gateway();
  rmSync(file('east.jwt'));
  assert.equal((await gateway()).code, 0);
  assert.equal(rows['gateways']!.length, 1);
  lifetimeS = 30;
  rmSync(file('east.jwt'));
  await gateway();
  const short = readFileSync(file('east.jwt'), 'utf8');
  lifetimeS = 3_600;
  assert.match((await gateway()).out, /its enrollment token is in/);
  assert.notEqual(readFileSync(file('east.jwt'), 'utf8'), short);
  assert.equal(rows['gateways']!.length, 1);
});

test('an enrolled gateway whose files are gone is not replaced, and the message has the remedy', async () => {
  rows['gateways']!.push({ id: 'g', name: 'east', enrolled: true });
  const { code, err } = await gateway();
  assert.equal(code, 6);
  assert.match(
    err,
    /gateway east is enrolled, but .*east\.jwt is missing: .*frontdoor fabric gateway delete east/,
  );
  assert.equal(rows['gateways']!.length, 1);
});

test('an agent gets a code in a private file, another one when the code has expired, and none when it is enrolled', async () => {
  const made = await agent();
  assert.match(made.out, /^the enrollment code is in .*code, and valid until 2030-01-01/);
  assert.equal(readFileSync(file('code'), 'utf8'), 'the-code\n');
  assert.equal(statSync(file('code')).mode & 0o777, 0o600);
  assert.match((await agent()).out, /^environment east can enroll with /);
  rows['enrollments']![0]!.state = 'expired';
  assert.match((await agent()).out, /^the enrollment code is in /);
  rows['environments']!.push({ id: 'e', name: 'east' });
  assert.equal((await agent()).out, 'environment east is enrolled\n');
  rmSync(file('code'));
  assert.match((await agent()).err, /environment east is enrolled, but .*frontdoor environments delete east/);
  assert.ok(!existsSync(file('code')));
});

test('without a name or a file, --if-needed is refused', async () => {
  for (const args of [
    ['--name', 'east'],
    ['--out', file('code')],
  ]) {
    const { code, err } = await run('agents', 'enroll', ...args);
    assert.equal(code, 2);
    assert.match(err, /--if-needed needs --name and --out FILE/);
  }
});
