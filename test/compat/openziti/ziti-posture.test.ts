// Posture checks that `ziti edge` makes at our edge management API, and `ziti tunnel` dials by: its sessions are signed, so
// that our router judges them by the data model of our control plane. ZITI_BIN names `ziti` (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../support/deadline.ts';
import { httpGet } from '../../support/world.ts';
import { runZiti, zitiBinary } from '../../support/ziti-command.ts';
import { enrollArgs } from './tunneler.ts';
import { openZitiEdgeWorld, type ZitiEdgeWorld } from './ziti-edge-world.ts';

const BINARY = zitiBinary() ?? '';
const skip = BINARY === '' ? 'ZITI_BIN is not set' : false;
/** Time within which a change of checks ends what it forbids. */
const CUT_MS = 5_000;
const WAIT_MS = 30_000;

let world: ZitiEdgeWorld;
const edge = (...args: string[]): Promise<string> => world.edge(...args);

before(async () => {
  if (skip === false) world = await openZitiEdgeWorld(BINARY);
});
after(() => world?.close());

test('ziti edge makes, lists, changes and deletes a posture check of each type', { skip }, async () => {
  const create = (...args: string[]) => edge('create', 'posture-check', ...args);
  await create('os', 'system', '-o', 'Linux:>=4.0.0', '-a', 'device');
  await create('mac', 'address', '-m', '00:11:22:33:44:55');
  await create('domain', 'domain', '-d', 'corp');
  await create('mfa', 'code', '-s', '600', '-w');
  await create('process', 'guard', 'Linux', '/usr/bin/guard', '-s', 'a'.repeat(128));
  await create('process-multi', 'guards', 'AnyOf', 'Linux,Windows', '/usr/bin/a,C:\\b.exe');
  const listed = await edge('list', 'posture-checks');
  for (const [name, type] of [
    ['system', 'OS'],
    ['address', 'MAC'],
    ['domain', 'DOMAIN'],
    ['code', 'MFA'],
    ['guard', 'PROCESS'],
    ['guards', 'PROCESS_MULTI'],
  ] as const)
    assert.match(listed, new RegExp(`${name}\\b.*\\b${type}\\b`));
  await edge('list', 'posture-check-types');
  await edge('list', 'posture-check-role-attributes');
  await edge('update', 'posture-check', 'domain', 'domain', '-d', 'lab', '-a', 'inside');
  assert.match(await edge('list', 'posture-checks', 'name="domain"', '-j'), /"lab"/);
  for (const name of ['address', 'domain', 'code', 'guard', 'guards', 'system'])
    await edge('delete', 'posture-check', name);
  assert.doesNotMatch(await edge('list', 'posture-checks'), /system/);
});

test('ziti tunnel dials while its device passes, and is cut when a check changes', { skip }, async () => {
  const { folder, service } = world;
  const address = { protocol: 'tcp', address: '127.0.0.1', port: service.port };
  await edge('create', 'config', 'backend', 'host.v1', JSON.stringify(address));
  await edge('create', 'service', 'web', '--configs', 'backend');
  for (const name of ['host', 'dialer']) {
    const jwt = join(folder, `${name}.jwt`);
    await edge('create', 'identity', name, '--jwt-output-file', jwt);
    const { status, output } = await runZiti(BINARY, folder, enrollArgs(jwt, join(folder, `${name}.json`)));
    assert.equal(status, 0, output);
  }
  await edge('create', 'posture-check', 'os', 'kernel', '-o', 'Linux', '-a', 'device');
  const web = ['--semantic', 'AnyOf', '--service-roles', '@web'];
  await edge('create', 'service-policy', 'hosting', 'Bind', ...web, '--identity-roles', '@host');
  const checked = ['--identity-roles', '@dialer', '--posture-check-roles', '#device'];
  await edge('create', 'service-policy', 'dialing', 'Dial', ...web, ...checked);
  const everyRouter = ['--semantic', 'AnyOf', '--edge-router-roles', '#all'];
  await edge('create', 'edge-router-policy', 'all', ...everyRouter, '--identity-roles', '#all');
  await edge('create', 'service-edge-router-policy', 'all', ...everyRouter, '--service-roles', '#all');

  world.tunnel(join(folder, 'host.json'), 'host');
  const port = await world.proxy(join(folder, 'dialer.json'), 'web');
  const isAnswered = () =>
    httpGet(port, 'web', '/').then(
      ({ status }) => status === 200,
      () => false,
    );
  await edge('update', 'posture-check', 'os', 'kernel', '-o', 'Windows');
  await until('the end of dialing', isAnswered, (it) => !it, CUT_MS);
  await edge('update', 'posture-check', 'os', 'kernel', '-o', 'Linux');
  await until('dials that pass again', isAnswered, Boolean, WAIT_MS);
});
