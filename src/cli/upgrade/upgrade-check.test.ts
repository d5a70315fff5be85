import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runCli, fakeApi, type FakeAnswer, type Ran } from '../cli-fixture.ts';
import type { Finding } from '../doctor/finding.ts';
import type { UpgradeDatabase } from './upgrade-runner.ts';

const STEPS = [
  { name: '0001-first', effect: 'creates the schema' },
  { name: '0002-notes', effect: 'adds notes to shares' },
];
const DATABASE: UpgradeDatabase = { kind: 'embedded', schema: '0001-first', bytes: 12_000_000 };

interface Checked {
  readonly ran: Ran;
  readonly states: Readonly<Record<string, string>>;
  readonly messages: Readonly<Record<string, string>>;
}

async function check(
  words: readonly string[],
  { env = {}, version = '0.2.0', database = DATABASE }: Partial<CheckOptions> = {},
): Promise<Checked> {
  const runners = {
    schemaSteps: () => Promise.resolve(STEPS),
    readDatabase: () => Promise.resolve(database),
  };
  const ran = await runCli(['upgrade', '--check', '--json', ...words], env, {}, runners, version);
  const { findings } = JSON.parse(ran.out) as { readonly findings: readonly Finding[] };
  return {
    ran,
    states: Object.fromEntries(findings.map(({ check: name, state }) => [name, state])),
    messages: Object.fromEntries(findings.map(({ check: name, message }) => [name, message])),
  };
}

interface CheckOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly version: string;
  readonly database: UpgradeDatabase;
}

test('an upgrade shows the steps of the schema with the copy before them, from the database where no control plane runs', async () => {
  const { ran, states, messages } = await check(['--data-dir', '/var/lib/frontdoor']);
  assert.equal(ran.code, 1);
  assert.equal(states['schema'], 'warning');
  assert.match(
    messages['schema']!,
    /1 steps?: 0002-notes \(adds notes to shares\)\. .*12\.0 MB.* \/var\/lib\/frontdoor\/control\.db\.before-0002-notes/,
  );
  const same = await check([], { database: { ...DATABASE, schema: '0002-notes' } });
  assert.deepEqual([same.ran.code, same.states['schema']], [0, 'ok']);
  const newer = await check([], { database: { ...DATABASE, schema: '0003-later' } });
  assert.deepEqual([newer.ran.code, newer.states['schema']], [1, 'failure']);
});

test('an upgrade of an installation that runs compares the versions of its parts', async (t) => {
  const versions: Record<string, FakeAnswer> = {
    '/installation': {
      status: 200,
      json: { edgeApiUrl: 'https://x', routers: [], version: '0.1.3+4b51014bafc2', database: DATABASE },
    },
    '/summary': {
      status: 200,
      json: {
        routerVersions: [{ version: '0.1.0', count: 2 }],
        agentVersions: [
          { version: '0.0.9', count: 3 },
          { version: null, count: 1 },
        ],
      },
    },
    '/fabric/gateways': { status: 200, json: [{ id: 'a', version: '0.2.0' }] },
  };
  const api = await fakeApi((request) => versions[request.url.split('?')[0]!] ?? { status: 404 });
  t.after(() => api.close());
  const env = { FRONTDOOR_API_URL: api.url, FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't' };
  const { ran, states, messages } = await check([], { env });
  assert.equal(ran.code, 1);
  assert.deepEqual(states, {
    version: 'ok',
    schema: 'warning',
    routers: 'ok',
    gateways: 'ok',
    agents: 'warning',
    configuration: 'skipped',
  });
  assert.match(messages['agents']!, /3 of 0\.0\.9: 0\.0\.9 and 0\.2\.0 are not supported together/);
  assert.match(
    (await check([], { env, version: '0.3.0' })).messages['version']!,
    /leaves out a minor version/,
  );
  assert.match((await check([], { env, version: '0.0.1' })).messages['version']!, /is a step back/);
});

test('an upgrade names the keys of a configuration file that the version does not know', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-upgrade-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'frontdoor.yaml');
  writeFileSync(file, 'up:\n  zone: share.example.com\n', { mode: 0o600 });
  assert.equal((await check(['--config', file])).states['configuration'], 'ok');
  writeFileSync(file, 'up:\n  zon: share.example.com\n', { mode: 0o600 });
  const { states, messages } = await check(['--config', file]);
  assert.equal(states['configuration'], 'failure');
  assert.match(messages['configuration']!, /frontdoor\.yaml:2:3 .*zon.*zone/);
  assert.equal(states['schema'], 'skipped', 'the file names the database');
});

test('an upgrade names the copy where the programs would write it, or says that there is none', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-upgrade-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'frontdoor.yaml');
  const schemaOf = async (...words: readonly string[]) => (await check(words)).messages['schema']!;
  assert.match(await schemaOf('--migration-backup-dir', '/copies'), / \/copies\/control\.db\.before-/);
  assert.match(await schemaOf('--migration-backups', '0'), /The database is not copied before them/);
  writeFileSync(file, 'control:\n  dataDir: data\n', { mode: 0o600 });
  assert.ok((await schemaOf('--config', file)).includes(` ${folder}/data/control.db.before-`));
  writeFileSync(file, 'up:\n  dataDir: data\n  migrationBackupDir: copies\n', { mode: 0o600 });
  assert.ok((await schemaOf('--config', file)).includes(` ${folder}/copies/control.db.before-`));
});

test('an upgrade without --check is refused, and with an archive the check of its version runs', async () => {
  const refused = await runCli(['upgrade']);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /only "frontdoor upgrade --check" exists/);
  const checkOf = (version: string): Promise<number> => Promise.resolve(version === 'new.tar.gz' ? 1 : 0);
  assert.equal((await runCli(['upgrade', '--check', 'new.tar.gz'], {}, {}, { checkOf })).code, 1);
});
