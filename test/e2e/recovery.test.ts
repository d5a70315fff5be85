// What an operator loses and what must not leak: administrators made again, first secrets in a file, codes off the command line.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { silentLog } from '#base';
import { resetAdmin, startControlPlane, type FirstStart } from '#control';
import { JsonClient } from '#net/http';
import { PartProcess, runCommand } from '../support/part-process.ts';
import { postgresSkip, startPostgres } from '../support/postgres.ts';
import { runLauncher } from '../support/product-process.ts';
import { until, within } from '../support/deadline.ts';

interface Ready extends FirstStart {
  readonly apiUrl: string;
}

const PORTS = ['--api-port', '0', '--edge-api-port', '0', '--ctrl-port', '0'];

async function scopesOf(apiUrl: string, accountId: string, apiToken: string): Promise<unknown> {
  const client = new JsonClient({ origin: apiUrl });
  try {
    const headers = { authorization: `Basic ${accountId}:${apiToken}` };
    const { json } = await client.request({ method: 'GET', path: '/caller', headers });
    return (json as { scopes: unknown }).scopes;
  } finally {
    await client.close();
  }
}

function control(folder: string): PartProcess<Ready> {
  const readyFile = join(folder, 'ready.json');
  return new PartProcess<Ready>({
    name: 'control',
    readyFile,
    args: () => ['control', '--data-dir', join(folder, 'data'), ...PORTS, '--ready-file', readyFile],
  });
}

describe('credentials', () => {
  test('of the first start are kept in a file of their owner, and never written to an output that is no terminal', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-recovery-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const part = control(folder);
    t.after(() => part.kill());
    const { apiUrl } = await part.start();
    const file = join(folder, 'data', 'first-secrets.json');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const first = JSON.parse(readFileSync(file, 'utf8')) as FirstStart;
    assert.deepEqual(await scopesOf(apiUrl, first.accountId, first.apiToken), [
      'frontdoor.read',
      'frontdoor.write',
      'frontdoor.admin',
    ]);
    assert.match(part.output, /first-secrets\.json/);
    for (const secret of [first.apiToken, first.clientSecret]) assert.ok(!part.output.includes(secret));
  });

  test('of an administrator are replaced while the control plane is stopped, and not while it runs', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-recovery-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const part = control(folder);
    t.after(() => part.kill());
    await part.start();
    const command = ['control', 'reset-admin', '--data-dir', join(folder, 'data')];
    await assert.rejects(runCommand(command), /another (?:frontdoor|process)/i);
    await part.stop();
    const printed = await runCommand(command);
    const file = join(folder, 'data', 'admin-secrets.json');
    assert.match(printed, /admin-secrets\.json/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const admin = JSON.parse(readFileSync(file, 'utf8')) as { accountId: string; apiToken: string };
    assert.ok(!printed.includes(admin.apiToken));
    const { apiUrl } = await part.start();
    assert.deepEqual(await scopesOf(apiUrl, admin.accountId, admin.apiToken), [
      'frontdoor.read',
      'frontdoor.write',
      'frontdoor.admin',
    ]);
  });

  test(
    'of an administrator are replaced on PostgreSQL while the control plane runs, and are valid at once',
    { skip: postgresSkip },
    async (t) => {
      const postgres = await startPostgres();
      t.after(() => postgres.stop());
      const dataDir = mkdtempSync(join(tmpdir(), 'frontdoor-recovery-'));
      t.after(() => rmSync(dataDir, { recursive: true, force: true }));
      const database = await postgres.createDatabase();
      const plane = await startControlPlane({
        dataDir,
        database,
        listenHost: '127.0.0.1',
        advertiseHost: 'localhost',
        zone: 'share.localhost',
        apiPort: 0,
        edgeApiPort: 0,
        ctrlPort: 0,
        frontendUrls: () => [],
        log: silentLog,
      });
      t.after(() => plane.close());
      const { accountId, apiToken } = await resetAdmin({ dataDir, database, log: silentLog }, async () => {});
      await until(
        'the new administrator',
        () => scopesOf(plane.apiUrl, accountId, apiToken),
        (scopes) => Array.isArray(scopes) && scopes.includes('frontdoor.admin'),
      );
    },
  );
});

test('an enrollment code is read from a file, and stands on no command line of the program for long', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-recovery-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const code = 'CODE-THAT-NOBODY-SEES';
  const start = (...args: string[]) =>
    runLauncher([
      'agent',
      'start',
      '--data-dir',
      join(folder, 'agent'),
      '--api',
      'http://127.0.0.1:9',
      ...args,
    ]);
  const file = join(folder, 'code');
  writeFileSync(file, `${code}\n`, { mode: 0o600 });
  const fromFile = start('--enrollment-token-file', file);
  // The code was taken: what fails is the way to the Management API.
  await within('the end of the agent', fromFile.exit);
  assert.doesNotMatch(fromFile.output(), /--enrollment-token|no identity/);
  const typed = start('--enrollment-token-file', '-');
  typed.child.stdin?.end(`${code}\n`);
  await within('the end of the agent', typed.exit);
  assert.doesNotMatch(typed.output(), /--enrollment-token|no identity/);
  const missing = start('--enrollment-token-file', join(folder, 'nothing'));
  assert.equal((await within('the end of the agent', missing.exit)).status, 2);
  assert.match(missing.output(), /--enrollment-token-file/);

  const shown = start('--enrollment-token', code);
  const children = `/proc/${shown.child.pid}/task/${shown.child.pid}/children`;
  const commandLine = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  const { value: pid } = await until(
    'the program',
    () => Number(readFileSync(children, 'latin1').trim()),
    (child) => child > 0 && commandLine(child).includes('frontdoor.ts'),
  );
  assert.ok(!commandLine(pid).includes(code));
  assert.ok(!commandLine(shown.child.pid!).includes(code));
  shown.child.kill();
  await within('the end of the agent', shown.exit);
});
