// A machine is lost: its backup and its key file bring all back on an empty one, for agents too.
import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { until } from '../support/deadline.ts';
import { runCommand } from '../support/part-process.ts';
import { startPrivateService, type PrivateService } from '../support/private-service.ts';
import type { Separate } from '../support/separate.ts';
import { releaseWorld, sharedSeparate } from '../support/shared-world.ts';
import { httpGet } from '../support/world.ts';

const HOST = 'app.share.localhost';

let service: PrivateService;
let parts: Separate;
const file = (name: string): string => join(parts.folder, name);

before(async () => {
  service = await startPrivateService();
  parts = await sharedSeparate();
  await parts.share('public', `http://127.0.0.1:${service.port}`, 'app');
  // The gateway receives the share a moment after its host.
  await until('the gateway serves it', statusOf, (status) => status === 200);
});
after(async () => {
  try {
    await releaseWorld();
  } finally {
    await service?.close();
  }
});

async function statusOf(): Promise<number> {
  return (await httpGet(parts.port, HOST, '/').catch(() => ({ status: 0 }))).status;
}

async function shareStatus(): Promise<string | undefined> {
  const { json } = await parts.call('GET', '/shares');
  return (json as { content?: { status: string }[] }).content?.[0]?.status;
}

test('a backup is saved while all parts run: whole, readable by its owner only, and it replaces the last one', async () => {
  const saved = file('frontdoor.backup');
  await parts.run('backup', saved, '--ca', file('api-ca.pem'));
  const first = readFileSync(saved);
  const text = await parts.run('backup', saved, '--ca', file('api-ca.pem'));
  assert.match(text, /rows, as of \d{4}-/);
  assert.notDeepEqual(readFileSync(saved), first);
  assert.equal(statSync(saved).mode & 0o777, 0o600);
  await parts.run('backup', '--keep', '1', file('dated'), '--ca', file('api-ca.pem'));
  assert.match(readdirSync(file('dated')).join(), /^frontdoor-\d{4}-\d\d-\d\dT[\d-]+Z\.backup$/);
  assert.match(
    await runCommand(['restore', saved, '--check', '--data-dir', file('control')]),
    /is valid[^]*decrypts its/,
  );
});

test('a damaged backup is reported, and a database that is in use is not changed', async () => {
  const damaged = file('damaged.backup');
  copyFileSync(file('frontdoor.backup'), damaged);
  truncateSync(damaged, statSync(damaged).size - 20);
  await assert.rejects(runCommand(['restore', damaged, '--check']), /failed \(2\).*the backup/);
  const restore = ['restore', file('frontdoor.backup'), '--data-dir', file('control')];
  await assert.rejects(
    runCommand(restore),
    /failed \(\d\).*(?:held by another process|another frontdoor \()/,
  );
  assert.equal(await statusOf(), 200);
});

test('a restore on an empty host brings everything back: enrollments and credentials stay valid', async () => {
  const agentPid = parts.agent.pid;
  const before = (await parts.call('GET', '/environments')).json;
  await parts.control.kill();
  renameSync(file('control'), file('lost'));
  mkdirSync(file('control'), { mode: 0o700 });
  const restore = ['restore', file('frontdoor.backup'), '--data-dir', file('control')];
  assert.match(await runCommand([...restore, '--check']), /Copy the secrets\.key/);
  copyFileSync(join(file('lost'), 'secrets.key'), join(file('control'), 'secrets.key'));
  assert.match(await runCommand(restore), /has been restored: \d+ rows[^]*decrypts its secrets/);
  await assert.rejects(runCommand(restore), /failed \(6\).*not empty/);
  await parts.control.start();
  await until('the share is hosted', shareStatus, (status) => status === 'DEPLOYED');
  await until('the gateway serves it', statusOf, (status) => status === 200);
  const environments = async (): Promise<unknown> => (await parts.call('GET', '/environments')).json;
  await until('the environments are as they were', environments, (now) => isDeepStrictEqual(now, before));
  assert.equal(parts.agent.pid, agentPid);
  assert.ok(parts.agent.isRunning);
  // What needs the authority itself continues, too.
  await parts.run(
    'fabric',
    'router',
    'create',
    'another',
    '--out',
    file('another.jwt'),
    '--ca',
    file('api-ca.pem'),
  );
});

test('without the key file of the backup the control plane does not start, and no secret can be decrypted', async () => {
  mkdirSync(file('keyless'));
  await runCommand(['restore', file('frontdoor.backup'), '--data-dir', file('keyless')]);
  const start = [
    'control',
    '--data-dir',
    file('keyless'),
    '--api-port',
    '0',
    '--edge-api-port',
    '0',
    '--ctrl-port',
    '0',
  ];
  await assert.rejects(
    runCommand(start),
    /there is no .*secrets\.key, and the secrets of the database can be read with it alone/,
  );
});
