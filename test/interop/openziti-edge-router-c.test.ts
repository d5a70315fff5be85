// OpenZiti's C SDK at OpenZiti's edge router and our control plane, as dialer and as host, with the library at the other end.
// ZITI_BIN names `ziti` (1.7.2), and FRONTDOOR_TEST_OPENZITI_PYTHON a Python that has `openziti==0.6.0`; without them: skipped.
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { enroll, openOverlay, type Overlay } from '#sdk/library';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { until, within } from '../support/deadline.ts';
import { countedExchange, returnCounted } from '../support/echo-stream.ts';
import { FabricMesh } from '../support/fabric-mesh.ts';
import { freePort } from '../support/free-port.ts';
import { zitiBinary } from '../support/ziti-command.ts';

const BINARY = zitiBinary();
const PYTHON = process.env['FRONTDOOR_TEST_OPENZITI_PYTHON'] ?? '';
const skipPython = PYTHON === '' ? 'FRONTDOOR_TEST_OPENZITI_PYTHON is not set' : false;
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : skipPython;
const BYTES = 3_000_000;
const EXCHANGE_MS = 60_000;

let mesh: FabricMesh;
let library: Overlay;
let ownId: string;
let cHost: ChildProcess | undefined;

const file = (name: string): string => join(mesh.folder, name);
const script = (name: string): string => join(repositoryRoot, 'test/compat/c-sdk', name);

before(async () => {
  if (BINARY === undefined || skip !== false) return;
  mesh = await FabricMesh.start();
  await mesh.goRouter(BINARY, 'go-edge', { edgePort: await freePort() });
  const identityFile = file('library.json');
  ownId = (await enroll({ token: await mesh.enrollmentJwt(), identityFile })).id;
  library = await openOverlay({ identityFile });
});
afterEach((context) => {
  if ('passed' in context && context.passed === false) console.error(mesh?.output.slice(-4_000));
});
after(async () => {
  cHost?.kill('SIGKILL');
  await library?.close();
  await mesh?.stop();
});

/** A private share that `hostId` hosts and `guestId` may dial. */
async function share(name: string, hostId: string, guestId: string): Promise<void> {
  const made = await mesh.call('POST', '/shares', {
    environmentId: hostId,
    name,
    shareMode: 'private',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:9',
    grants: [guestId],
  });
  assert.equal(made.status, 201, made.text);
}

async function environmentIds(): Promise<string[]> {
  const { json } = await mesh.call('GET', '/environments');
  return (json as { content: { id: string }[] }).content.map(({ id }) => id);
}

test('the C SDK dials what the library hosts, and hosts what the library dials', { skip }, async () => {
  writeFileSync(file('c.jwt'), await mesh.enrollmentJwt(), { mode: 0o600 });
  const known = await environmentIds();
  await promisify(execFile)(PYTHON, [script('enroll.py'), file('c.jwt'), file('c.json')]);
  const id = (await environmentIds()).find((one) => !known.includes(one))!;
  await share('for-c', ownId, id);
  await share('by-c', id, ownId);
  const server = await library.bind('for-c');
  server.on('connection', returnCounted);
  const dialed = async (bytes: number): Promise<string> => {
    const args = [script('exchange.py'), file('c.json'), 'for-c', String(bytes)];
    return (await promisify(execFile)(PYTHON, args, { timeout: EXCHANGE_MS })).stdout.trim();
  };
  await until(
    'the library as a host',
    () => dialed(1).catch(String),
    (text) => text === 'whole',
    EXCHANGE_MS,
  );
  assert.equal(await dialed(BYTES), 'whole');
  const host = spawn(PYTHON, [script('host.py'), file('c.json'), 'by-c'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cHost = host;
  await within('the C host', once(host.stdout, 'data'), EXCHANGE_MS);
  const dial = async (bytes: number): Promise<boolean> => {
    const stream = await library.dial('by-c', { encryption: 'required' });
    await within('the exchange', countedExchange(stream, bytes), EXCHANGE_MS);
    return true;
  };
  await until('the C SDK as a host', () => dial(1).catch(() => false), Boolean, EXCHANGE_MS);
  await dial(BYTES);
});
