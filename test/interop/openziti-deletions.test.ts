// OpenZiti's edge router at our control plane while each kind of the data model's entities is deleted: it continues and saves its
// model, which the entities have left. ZITI_BIN names `ziti` (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { ctrlMessages } from '#wire/ctrl';
import { enrollGo } from '../compat/openziti/tunneler.ts';
import { callCommand } from '../support/command-line.ts';
import { until } from '../support/deadline.ts';
import { EdgeManagementClient } from '../support/edge-management-client.ts';
import { FabricMesh } from '../support/fabric-mesh.ts';
import { freePort } from '../support/free-port.ts';
import { zitiBinary } from '../support/ziti-command.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const CREDENTIALS = { username: 'root', password: 'a password of an administrator' };
/** The router saves a changed model every 30 s. */
const SAVE_MS = 60_000;
/** How long the router is watched after the first deletion. */
const WATCHED_MS = 60_000;

let mesh: FabricMesh;
let edge: EdgeManagementClient;

before(async () => {
  if (BINARY === undefined) return;
  mesh = await FabricMesh.start({ controlArgs: ['--edge-management'] });
  await mesh.control.stop();
  const password = join(mesh.folder, 'password');
  writeFileSync(password, `${CREDENTIALS.password}\n`);
  await callCommand([
    'admins',
    'create',
    '--data-dir',
    join(mesh.folder, 'control'),
    '--username',
    CREDENTIALS.username,
    '--password-file',
    password,
    '--out',
    join(mesh.folder, 'admin.json'),
  ]);
  await mesh.control.start();
  await mesh.goRouter(BINARY, 'go-edge', { edgePort: await freePort() });
  edge = await EdgeManagementClient.logIn(mesh.control.ready.edgeApiUrl, CREDENTIALS);
});
afterEach((context) => {
  if ('passed' in context && context.passed === false) console.error(mesh?.output.slice(-4_000));
});
after(() => mesh?.stop());

/** The ids of the entities, with the kind of each, and of everything that a policy relates. */
async function savedModel(): Promise<Set<string>> {
  const { events } = ctrlMessages.dataState.decode(gunzipSync(await readFile(modelFile())));
  return new Set(
    events.flatMap(({ model }) => {
      if (model.case === 'servicePolicyChange') return model.value.relatedEntityIds;
      return model.case === undefined || model.case === 'publicKey' ? [] : [model.value.id];
    }),
  );
}

function modelFile(): string {
  return join(mesh.folder, 'go-edge', 'router.yml.proto.gzip');
}

/** Resolves when the router has saved a model that fits. */
async function untilSaved(fits: (ids: Set<string>) => boolean): Promise<void> {
  const ids = (): Promise<Set<string>> => savedModel().catch(() => new Set<string>());
  await until('a saved model', ids, fits, SAVE_MS);
}

async function environment(name: string): Promise<string> {
  const folder = join(mesh.folder, 'go');
  mkdirSync(folder, { recursive: true });
  const management = { call: mesh.call.bind(mesh), enrollmentJwt: () => mesh.enrollmentJwt() };
  return (await enrollGo(management, { binary: BINARY!, folder, name })).environmentId;
}

async function share(name: string, environmentId: string, more: object): Promise<void> {
  const target = 'http://127.0.0.1:9';
  const body = { environmentId, name, backendMode: 'proxy', target, ...more };
  const { status, text } = await mesh.call('POST', '/shares', body);
  assert.equal(status, 201, text);
}

async function createGateway(name: string): Promise<string> {
  const token = join(mesh.folder, `${name}.jwt`);
  const made = await mesh.run('fabric', 'gateway', 'create', name, '--out', token, '--json');
  return (JSON.parse(made) as { id: string }).id;
}

async function remove(path: string): Promise<void> {
  const { status, text } = await mesh.call('DELETE', path);
  assert.ok(status < 300, text);
}

test('it continues after each kind of deletion, and saves what is left', { skip }, async () => {
  const [host, guest] = [await environment('host'), await environment('guest')];
  const gateway = await createGateway('gateway');
  const tunnel = await edge.create('edge-routers', { name: 'tunnel', isTunnelerEnabled: true });
  await share('public', host, { shareMode: 'public' });
  await share('granted', host, { shareMode: 'private', grants: [guest] });
  const identity = await edge.create('identities', { name: 'ann', type: 'Default', isAdmin: false });
  const config = await edge.create('configs', {
    name: 'host',
    configTypeId: 'host.v1',
    data: { protocol: 'tcp', address: '127.0.0.1', port: 9 },
  });
  const service = await edge.create('services', {
    name: 'web',
    configs: [config],
    encryptionRequired: true,
    roleAttributes: ['web'],
  });
  const check = await edge.create('posture-checks', {
    name: 'linux',
    typeId: 'OS',
    roleAttributes: ['strict'],
    operatingSystems: [{ type: 'Linux', versions: [] }],
  });
  const policy = await edge.create('service-policies', {
    name: 'dial',
    type: 'Dial',
    semantic: 'AnyOf',
    serviceRoles: ['#web'],
    identityRoles: [`@${identity}`, `@${tunnel}`],
    postureCheckRoles: ['#strict'],
  });
  const gone = [host, guest, gateway, tunnel, identity, config, service, check, policy];
  await untilSaved((ids) => gone.every((id) => ids.has(id)));

  const beganMs = performance.now();
  await remove(`/environments/${guest}`);
  await edge.call('DELETE', `identities/${identity}`);
  await edge.call('DELETE', `edge-routers/${tunnel}`);
  await edge.call('DELETE', `posture-checks/${check}`);
  await edge.call('DELETE', `services/${service}`);
  await edge.call('DELETE', `configs/${config}`);
  await edge.call('DELETE', `service-policies/${policy}`);
  await remove(`/environments/${host}`);
  await mesh.run('fabric', 'gateway', 'delete', gateway);
  await untilSaved((ids) => ids.size > 0 && !gone.some((id) => ids.has(id)));
  const { mtimeMs } = await stat(modelFile());
  // A save after a further change fails, too, if the router keeps what was deleted.
  await createGateway('another');
  await until(
    'the next save',
    () => stat(modelFile()),
    (now) => now.mtimeMs > mtimeMs,
    SAVE_MS,
  );
  await delay(Math.max(0, beganMs + WATCHED_MS - performance.now()));
  await mesh.untilOnline('go-edge');
});
