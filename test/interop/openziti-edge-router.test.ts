// OpenZiti's edge router at our control plane: it gets the data model, and serves SDKs. Ours (agent and gateway) and
// the Go client meet at it. ZITI_BIN names `ziti` (1.7.2); without it: skipped.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE, type AgentStatusResult } from '#domain/agent-shapes';
import { freePort } from '../support/free-port.ts';
import { enrollGo, startTunneler, type GoIdentity, type Tunneler } from '../compat/openziti/tunneler.ts';
import { until } from '../support/deadline.ts';
import { FabricMesh } from '../support/fabric-mesh.ts';
import { PartProcess } from '../support/part-process.ts';
import { digestOf, startPrivateService, type PrivateService } from '../support/private-service.ts';
import { portOf, type GatewayReady } from '../support/separate.ts';
import { httpGet } from '../support/world.ts';
import { zitiBinary } from '../support/ziti-command.ts';

const BINARY = zitiBinary();
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const BODY_BYTES = 4 * 1024 * 1024;
const WAIT_MS = 30_000;
/** Longer than our clients wait for a sign of their router, three times over. */
const IDLE_MS = 30_000;

let mesh: FabricMesh;
let service: PrivateService;
let gateway: PartProcess<GatewayReady>;
let agent: PartProcess<AgentStatusResult>;
const tunnelers: Tunneler[] = [];

before(async () => {
  if (BINARY === undefined) return;
  service = await startPrivateService();
  mesh = await FabricMesh.start({ controlArgs: ['--zone', 'share.localhost'] });
  await mesh.goRouter(BINARY, 'go-edge', { edgePort: await freePort() });
  const file = (name: string): string => join(mesh.folder, name);
  const { apiUrl } = mesh.control.ready;
  await mesh.run('fabric', 'gateway', 'create', 'gateway', '--out', file('gateway.jwt'));
  gateway = new PartProcess<GatewayReady>({
    name: 'gateway',
    readyFile: file('gateway.json'),
    args: () => [
      'gateway',
      '--data-dir',
      file('gateway'),
      '--enrollment-jwt',
      file('gateway.jwt'),
      '--http-port',
      '0',
      '--ready-file',
      file('gateway.json'),
    ],
  });
  await gateway.start();
  const { json } = await mesh.call('POST', '/agents/enrollments');
  agent = new PartProcess<AgentStatusResult>({
    name: 'agent',
    probe: () => callAgent(file(`agent/${AGENT_SOCKET_FILE}`), { op: 'status' }, 1_000),
    args: () => [
      'agent',
      'start',
      '--data-dir',
      file('agent'),
      '--api',
      apiUrl,
      '--name',
      'agent',
      '--allow-target',
      '127.0.0.0/8:*',
      '--enrollment-token',
      (json as { enrollmentCode: string }).enrollmentCode,
    ],
  });
  await agent.start();
});
afterEach((context) => {
  if (!('passed' in context) || context.passed !== false) return;
  for (const text of [mesh?.output, gateway?.output, agent?.output]) console.error(text?.slice(-4_000));
  for (const tunneler of tunnelers) console.error(tunneler.output().slice(-4_000));
});
after(async () => {
  for (const tunneler of tunnelers) await tunneler.stop();
  for (const part of [agent, gateway]) await part?.stop();
  await mesh?.stop();
  await service?.close();
});

async function checkServed(port: number, host: string): Promise<void> {
  const get = (path: string): ReturnType<typeof httpGet> => httpGet(port, host, path);
  const { value } = await until(
    `an answer of ${host}`,
    () => get('/'),
    ({ status }) => status === 200,
    WAIT_MS,
  );
  assert.equal(String(value.body), 'private');
  const { body } = await get(`/bytes/${BODY_BYTES}`);
  assert.equal(digestOf([body]), digestOf(service.bytes(BODY_BYTES)));
}

test('our agent hosts at OpenZiti’s edge router what our gateway dials there', { skip }, async () => {
  const made = await mesh.call('POST', '/shares', {
    environmentId: agent.ready.environmentId,
    name: 'app',
    shareMode: 'public',
    backendMode: 'proxy',
    target: `http://127.0.0.1:${service.port}`,
  });
  assert.equal(made.status, 201, made.text);
  await checkServed(Number(portOf(gateway.ready.gatewayUrl)), 'app.share.localhost');
});

test('its channels to our agent and gateway stay open without traffic', { skip }, async () => {
  const host = 'app.share.localhost';
  const port = Number(portOf(gateway.ready.gatewayUrl));
  await checkServed(port, host);
  await delay(IDLE_MS);
  for (const { output } of [agent, gateway]) assert.doesNotMatch(output, /channel to router closed/);
  assert.equal((await httpGet(port, host, '/')).status, 200);
});

test('OpenZiti’s client enrolls here, and dials at that router what our agent hosts', { skip }, async () => {
  const client = await enroll('dialing');
  const made = await mesh.call('POST', '/shares', {
    environmentId: agent.ready.environmentId,
    name: 'granted',
    shareMode: 'private',
    backendMode: 'proxy',
    grants: [client.environmentId],
    target: `http://127.0.0.1:${service.port}`,
  });
  assert.equal(made.status, 201, made.text);
  const port = await freePort();
  tunnel(client, 'proxy', `granted:${port}`);
  await checkServed(port, 'granted');
});

test('OpenZiti’s client hosts at that router what our gateway dials', { skip }, async () => {
  const host = await enroll('hosting');
  const made = await mesh.call('POST', '/shares', {
    environmentId: host.environmentId,
    name: 'hosted',
    shareMode: 'public',
    backendMode: 'proxy',
    target: `http://127.0.0.1:${service.port}`,
  });
  assert.equal(made.status, 201, made.text);
  tunnel(host, 'host');
  await checkServed(Number(portOf(gateway.ready.gatewayUrl)), 'hosted.share.localhost');
});

async function enroll(name: string): Promise<GoIdentity> {
  const folder = join(mesh.folder, 'go');
  mkdirSync(folder, { recursive: true });
  const call = mesh.call.bind(mesh);
  const enrollmentJwt = () => mesh.enrollmentJwt();
  return enrollGo({ call, enrollmentJwt }, { binary: BINARY!, folder, name });
}

function tunnel(identity: GoIdentity, ...mode: string[]): void {
  tunnelers.push(startTunneler(BINARY!, join(mesh.folder, 'go'), identity.file, ...mode));
}
