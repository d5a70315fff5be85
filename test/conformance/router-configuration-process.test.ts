// The router's commands as processes of their own, as operators start them: enroll, run and check, their exit statuses,
// signals, and the files that a running router writes.
import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { makeTestAuthority, type TestAuthority } from '../support/certificates.ts';
import { callCommand } from '../support/command-line.ts';
import { until, within } from '../support/deadline.ts';
import { FabricMesh } from '../support/fabric-mesh.ts';
import { freePort } from '../support/free-port.ts';
import { PartProcess } from '../support/part-process.ts';
import { isAlive } from '../support/process-state.ts';
import { runLauncher } from '../support/product-process.ts';
import type { Sections } from '../support/router-stage.ts';
import { openScriptedController } from '../support/scripted-controller.ts';
import type { RouterReady } from '../support/separate.ts';

const END_MS = 30_000;

let folder: string;
let authority: TestAuthority;
let identity: Sections;
/** The mesh of all tests that need a control plane. Each test has routers of its own. */
let mesh: FabricMesh;
before(async () => {
  mesh = await FabricMesh.start();
  folder = mkdtempSync(join(tmpdir(), 'router-process-'));
  authority = await makeTestAuthority();
  const own = await authority.issue('router-1');
  identity = {
    cert: write('cert.pem', own.cert),
    key: write('key.pem', own.key),
    ca: write('ca.pem', own.ca),
  };
});
after(async () => {
  await mesh?.stop();
  rmSync(folder, { recursive: true });
});

function write(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Nobody listens at port 9 of loopback. */
const NO_CONTROLLER = { endpoint: 'tls:127.0.0.1:9' };

/** A file with what every one needs, and what is given. */
function file(name: string, sections: Sections = {}): string {
  return write(name, JSON.stringify({ v: 3, ctrl: NO_CONTROLLER, identity, ...sections }, undefined, 1));
}

async function ended(...args: string[]): Promise<{ status: number | null; output: string }> {
  const running = runLauncher(['router', ...args]);
  const { status } = await within(`the end of router ${args[0]!}`, running.exit, END_MS);
  return { status, output: running.output() };
}

/** The output of an enrollment that fails before it uses its token. */
async function refusedEnrollment(path: string): Promise<string> {
  const jwt = write('token.jwt', 'never looked at');
  const refused = await callCommand(['router', 'enroll', path, '--jwt', jwt]).catch((error: Error) => error);
  assert.ok(refused instanceof Error, 'the enrollment was refused');
  return refused.message;
}

/** A router that runs without a controller, and is stopped at the end of the test. */
async function started(t: TestContext, sections: Sections): Promise<PartProcess<RouterReady>> {
  const readyFile = join(folder, 'ready.json');
  const path = file('running.yml', sections);
  const part = new PartProcess<RouterReady>({
    name: 'router',
    readyFile,
    args: () => ['router', 'run', path, '--ready-file', readyFile, '--ready-without-controller'],
  });
  t.after(() => part.stop());
  await part.start();
  return part;
}

test('run with an invalid file fails and reports all of its problems; a missing file is named', async () => {
  const invalid = file('invalid.yml', {
    v: 4,
    forwarder: { linkDialWorkerCount: 0, xgressDialQueueLength: 10_001 },
  });
  const { status, output } = await ended('run', invalid);
  assert.equal(status, 1);
  for (const path of ['v', 'forwarder.linkDialWorkerCount', 'forwarder.xgressDialQueueLength'])
    assert.match(output, new RegExp(`invalid\\.yml:\\d+:\\d+ error ${path.replace('.', String.raw`\.`)}:`));
  const missing = await ended('run', join(folder, 'missing.yml'));
  assert.equal(missing.status, 2);
  assert.match(missing.output, /cannot read .*missing\.yml/);
});

test('check ends with 0 for a valid file, 1 for an invalid one, 2 for one that cannot be read', async () => {
  const statuses = await Promise.all(
    [file('good.yml'), file('bad.yml', { v: 2 }), join(folder, 'none.yml')].map((path) =>
      ended('check', path),
    ),
  );
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [0, 1, 2],
  );
});

test('a protocol that this version has not passes check, and run refuses it by name', async () => {
  const path = file('later.yml', {
    edge: {},
    listeners: [{ binding: 'edge', address: 'dtls:0.0.0.0:1', options: { advertise: 'a:1' } }],
  });
  const checked = await ended('check', path);
  assert.equal(checked.status, 0, checked.output);
  const run = await ended('run', path);
  assert.equal(run.status, 1);
  assert.match(run.output, /listeners\[0\]\.address.*\bdtls\b/);
});

test('without a controller within ctrl.startupTimeout the process logs that and ends with status 1', async () => {
  const path = file('lonely.yml', { ctrl: { ...NO_CONTROLLER, startupTimeout: '1s' } });
  const { status, output } = await ended('run', path);
  assert.equal(status, 1, output);
  assert.match(output, /controller/);
});

test('the ready file is written when the first controller is connected, and the router ends with its launcher', async (t) => {
  const port = await freePort();
  const endpoint = `tls:127.0.0.1:${port}`;
  const readyFile = join(folder, 'connected.json');
  const path = file('waiting.yml', { ctrl: { endpoint } });
  const running = runLauncher(['router', 'run', path, '--ready-file', readyFile]);
  t.after(() => running.child.kill('SIGKILL'));
  await until('an attempt', running.output, (text) => text.includes('cannot reach controller'), END_MS);
  assert.equal(existsSync(readyFile), false);
  const controller = await openScriptedController(await authority.issue('controller'), { port });
  t.after(() => controller.close());
  await until('the ready file', () => existsSync(readyFile), Boolean, END_MS);
  const { pids } = JSON.parse(readFileSync(readyFile, 'utf8')) as RouterReady;
  running.child.kill('SIGKILL');
  await until(
    'the end of the router',
    () => isAlive(pids.router),
    (it) => !it,
    END_MS,
  );
});

test('SIGUSR1 logs the state, SIGUSR2 writes the CPU profile, and the router continues to run', async (t) => {
  const profile = join(folder, 'router.cpuprofile');
  const path = file('signals.yml', { profile: { cpu: { path: profile } } });
  const readyFile = join(folder, 'signals.json');
  // The launcher forwards signals, and sets how Node handles them.
  const ready = ['--ready-file', readyFile, '--ready-without-controller'];
  const running = runLauncher(['router', 'run', path, ...ready]);
  t.after(async () => {
    running.child.kill('SIGINT');
    await running.exit;
  });
  await until(
    'the ready file',
    () => existsSync(readyFile) || running.child.exitCode !== null,
    (it) => it,
    END_MS,
  );
  assert.equal(running.child.exitCode, null, running.output());
  running.child.kill('SIGUSR1');
  await until('the state', running.output, (text) => text.includes('state of the router'));
  assert.doesNotMatch(running.output(), /[Dd]ebugger/);
  running.child.kill('SIGUSR2');
  const { value } = await until(
    'the profile',
    () => JSON.parse(readFileSync(profile, 'utf8')) as { nodes?: unknown[]; samples?: unknown[] },
    ({ nodes }) => (nodes?.length ?? 0) > 0,
  );
  assert.ok(value.samples!.length > 0);
  assert.equal(running.child.exitCode, null);
  running.child.kill('SIGTERM');
  assert.deepEqual(await within('the end', running.exit, END_MS), { status: 0, signal: null });
});

test('an unfinished CPU profile is written when the router ends; heap snapshots come by the interval', async (t) => {
  const cpu = join(folder, 'end.cpuprofile');
  const memory = join(folder, 'heap');
  const part = await started(t, {
    profile: { cpu: { path: cpu }, memory: { path: memory, intervalMs: 300 } },
  });
  for (const name of ['heap-0', 'heap-1'])
    await until(
      name,
      () => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { snapshot?: object },
      ({ snapshot }) => snapshot !== undefined,
      END_MS,
    );
  assert.equal(await part.stop(), 0);
  const { nodes } = JSON.parse(readFileSync(cpu, 'utf8')) as { nodes: unknown[] };
  assert.ok(nodes.length > 0);
});

test('enroll writes the identity files and the endpoints file, and run connects with these files alone', async () => {
  const csr = { country: 'DE', sans: { dns: ['localhost', 'edge.example'], ip: ['127.0.0.1'] } };
  const sections = { ctrl: {}, csr: undefined, edge: { csr } };
  const router = await mesh.prepare('enrolled', { sections });
  const own = (name: string): string => join(mesh.folder, 'enrolled', name);
  for (const name of ['key.pem', 'cert.pem', 'server.pem', 'ca.pem', 'endpoints.yml'])
    assert.equal(statSync(own(name)).mode & 0o777, 0o600, name);
  assert.match(readFileSync(own('key.pem'), 'utf8'), /PRIVATE KEY/);
  for (const name of ['cert.pem', 'server.pem', 'ca.pem'])
    assert.match(readFileSync(own(name), 'utf8'), /BEGIN CERTIFICATE/);
  const { subjectAltName } = new X509Certificate(readFileSync(own('server.pem')));
  for (const name of ['DNS:localhost', 'DNS:edge.example', 'IP Address:127.0.0.1'])
    assert.ok(subjectAltName?.split(', ').includes(name) === true, subjectAltName ?? 'no names');
  assert.ok(readFileSync(own('endpoints.yml'), 'utf8').includes(mesh.control.ready.ctrlAddress));
  const { routerId } = await router.process.start();
  assert.equal(routerId, router.id);
  await mesh.untilOnline('enrolled');
  // The token was used.
  await assert.rejects(
    mesh.run('router', 'enroll', router.file, '--jwt', join(mesh.folder, 'enrolled.jwt')),
    /token/,
  );
  await router.process.stop();
  // A further enrollment of the same router keeps its key, one of another router replaces nothing without --force.
  const read = (): string[] =>
    ['key.pem', 'cert.pem', 'server.pem', 'ca.pem'].map((name) => readFileSync(own(name), 'utf8'));
  const before = read();
  const tokenOf = async (name: string): Promise<string> => {
    const path = join(mesh.folder, `${name}.jwt`);
    await mesh.run('fabric', 'router', 'create', name, '--out', path);
    return path;
  };
  const other = await tokenOf('other');
  await assert.rejects(
    mesh.run('router', 'enroll', router.file, '--jwt', other),
    new RegExp(`cert\\.pem is the certificate of ${router.id}, and this token is for router .*--force`),
  );
  assert.deepEqual(read(), before);
  await mesh.run('router', 'enroll', router.file, '--jwt', other, '--force');
  const after = read();
  assert.notEqual(after[0], before[0]);
  assert.doesNotMatch(new X509Certificate(after[1]!).subject, new RegExp(router.id));
});

test('a router that its controller refuses prints the reason: a second process, and a deleted router', async (t) => {
  const first = await mesh.router('refused', {});
  const second = runLauncher(['router', 'run', first.file]);
  t.after(async () => {
    second.child.kill('SIGTERM');
    await second.exit;
  });
  const refusal = /"controller":"tls:localhost:\d+".*the controller refuses this router/;
  const printed = async (of: () => string, reason: RegExp): Promise<void> => {
    const { value } = await until('the reason', of, (text) => reason.test(text), END_MS);
    assert.match(
      value.split('\n').find((line) => reason.test(line))!,
      refusal,
    );
  };
  await printed(
    second.output,
    /refused: this router is connected already: a second process, or a copy of its key/,
  );
  await mesh.run('fabric', 'router', 'delete', first.id);
  await printed(() => first.process.output, /refused: the router was deleted/);
  await printed(second.output, /refused: the router was deleted/);
});

test('enroll uses no token while it cannot write its files, and uses keys that are there', async () => {
  const jwt = join(mesh.folder, 'router.jwt');
  const made = await mesh.run('fabric', 'router', 'create', 'router', '--out', jwt, '--json');
  const { id } = JSON.parse(made) as { id: string };
  const at = (name: string): string => join(mesh.folder, name);
  const made256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const key = made256.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(at('key.pem'), key);
  // A file is where the folder of the certificates has to be, and a folder where the endpoints file has to be.
  writeFileSync(at('pki'), '');
  mkdirSync(at('endpoints.yml'));
  const path = at('router.yml');
  const serverKey = at('pki/server.key');
  const identityFiles = {
    cert: at('pki/cert.pem'),
    server_cert: at('pki/server.pem'),
    ca: at('pki/ca.pem'),
    key: at('key.pem'),
    server_key: serverKey,
  };
  const csr = { organization: 'Example', sans: { dns: ['localhost'] } };
  const sections = { v: 3, ctrl: {}, identity: identityFiles, edge: { csr } };
  writeFileSync(path, JSON.stringify(sections));
  const enroll = (): Promise<string> => mesh.run('router', 'enroll', path, '--jwt', jwt);
  await assert.rejects(enroll(), (error: Error) => {
    for (const name of ['identity.cert', 'identity.server_cert', 'identity.ca', 'ctrl.endpointsFile'])
      assert.match(error.message, new RegExp(`${name}: `));
    assert.doesNotMatch(error.message, /identity\.key/);
    return true;
  });
  rmSync(at('pki'));
  rmSync(at('endpoints.yml'), { recursive: true });
  writeFileSync(`${path}.proto.gzip`, 'the data model of another network');
  await enroll();
  assert.equal(readFileSync(at('key.pem'), 'utf8'), key);
  assert.equal(readFileSync(serverKey, 'utf8'), key);
  const leaf = new X509Certificate(readFileSync(at('pki/cert.pem')));
  assert.equal(leaf.subject, `O=Example\nCN=${id}`);
  assert.ok(leaf.checkPrivateKey(made256));
  assert.equal(existsSync(`${path}.proto.gzip`), false);
});

test('enroll refuses a file that advertises a host that its certificate request does not name', async () => {
  const listeners = [{ binding: 'edge', address: 'tls:127.0.0.1:0', advertise: 'edge.example:3022' }];
  const edge = { csr: { sans: { dns: ['other.example'] } } };
  const output = await refusedEnrollment(file('unnamed.yml', { edge, listeners }));
  assert.match(
    output,
    /unnamed\.yml:\d+:\d+ error listeners\[0\]\.advertise: edge\.example is not requested/,
  );
});

test('enroll refuses a file with listeners and without server_cert, because dialers would refuse cert', async () => {
  const listeners = [{ binding: 'edge', address: 'tls:127.0.0.1:0', advertise: 'localhost:1' }];
  const edge = { csr: { sans: { dns: ['localhost'] } } };
  const output = await refusedEnrollment(file('serverless.yml', { edge, listeners }));
  assert.match(output, /identity\.server_cert is missing/);
});

test('enroll refuses a file whose listeners have no name for dialers, with a csr section and without', async () => {
  const listeners = [{ binding: 'edge', address: 'tls:127.0.0.1:0', advertise: 'localhost:1' }];
  for (const edge of [{ csr: { country: 'DE' } }, {}]) {
    const output = await refusedEnrollment(file('nameless.yml', { edge, listeners }));
    assert.match(output, /edge\.csr\.sans.* names nothing/);
  }
});
