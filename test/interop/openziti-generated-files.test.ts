// The router files that `ziti create config router edge` writes run unchanged at OpenZiti's controller. ZITI_BIN names
// `ziti` (1.7.2), and `go` is in PATH for programs on the Go SDK; without them: skipped.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test, type TestContext } from 'node:test';
import { checkGoExchanges } from '../compat/openziti/go-exchanges.ts';
import { GoPeer, skipGoPeer } from '../compat/openziti/go-peer.ts';
import { until } from '../support/deadline.ts';
import { startEcho } from '../support/echo-service.ts';
import { freePort } from '../support/free-port.ts';
import { PartProcess, runCommand } from '../support/part-process.ts';
import { runZiti, zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const skip = skipGoPeer();
/** In mode tproxy the router changes rules and addresses of its machine, which others use. */
const skipTproxy =
  skip === false && Object.keys(networkInterfaces()).some((name) => name !== 'lo')
    ? 'this machine has a network; run it in one of its own: unshare --net --mount'
    : skip;

let mesh: OpenZitiMesh;
let peer: GoPeer;
let router: PartProcess | undefined;

before(async () => {
  if (skip !== false) return;
  mesh = await OpenZitiMesh.start(zitiBinary()!);
  peer = await GoPeer.build(mesh.folder);
  await mesh.network.allowAllRouters();
  await mesh.network.run('edge create service echo --role-attributes test --encryption ON');
  await mesh.network.enrollHostAndDialer('#test');
});
afterEach(async (context) => {
  if ('passed' in context && context.passed === false) console.error(router?.output.slice(-6_000));
  await router?.stop();
  router = undefined;
});
after(() => mesh?.stop());

/** Creates the router at the controller, writes its file by the options of `ziti`, enrolls and starts it. */
async function runGenerated(t: TestContext, name: string, options: readonly string[]): Promise<string> {
  const { network, folder: home } = mesh;
  const folder = join(home, name);
  mkdirSync(folder);
  const file = join(folder, 'router.yml');
  const words = ['create', 'config', 'router', 'edge', '--routerName', name, '--output', file, ...options];
  const { status, output } = await runZiti(zitiBinary()!, folder, words, {
    ZITI_HOME: folder,
    ZITI_CTRL_ADVERTISED_ADDRESS: 'localhost',
    ZITI_CTRL_ADVERTISED_PORT: String(network.controllerPort),
    ZITI_ROUTER_ADVERTISED_ADDRESS: 'localhost',
    ZITI_ROUTER_PORT: String(await freePort()),
    ZITI_ROUTER_LISTENER_BIND_PORT: String(await freePort()),
  });
  assert.equal(status, 0, output);
  await network.run(`edge create edge-router ${name} -t -o ${name}.jwt`);
  t.after(() => network.run(`edge delete edge-router ${name}`));
  const written = digestOf(file);
  await runCommand(['router', 'enroll', file, '--jwt', join(home, `${name}.jwt`)]);
  const readyFile = join(folder, 'ready.json');
  router = new PartProcess({
    name,
    readyFile,
    args: () => ['router', 'run', file, '--ready-file', readyFile, '--log-level', 'debug'],
  });
  await router.start();
  await mesh.untilOnline(name);
  assert.equal(digestOf(file), written);
  return readFileSync(file, 'utf8');
}

function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** A Go program hosts, another one dials: every byte comes back, encrypted end to end. */
async function checkCircuits(): Promise<void> {
  const host = await peer.host(join(mesh.folder, 'host.json'), 'echo');
  try {
    await checkGoExchanges(peer, join(mesh.folder, 'dialer.json'), 'echo');
  } finally {
    await host.kill();
  }
}

/** The router, as a tunneler, hosts a service for a Go program. */
async function checkHosted(t: TestContext, router: string): Promise<void> {
  const { network } = mesh;
  const echo = await startEcho();
  t.after(() => echo.close());
  const { port } = echo.address() as AddressInfo;
  const service = `hosted-by-${router}`;
  const config = JSON.stringify({ protocol: 'tcp', address: '127.0.0.1', port });
  await network.run(`edge create config ${service} host.v1`, config);
  await network.run(`edge create service ${service} --configs ${service} --encryption ON -a test`);
  const binds = `--service-roles @${service} --identity-roles @${router}`;
  await network.run(`edge create service-policy ${service} Bind ${binds}`);
  const terminators = async (): Promise<number> =>
    (await mesh.terminators()).filter((one) => one.service === service).length;
  await until(`a terminator of ${service}`, terminators, (count) => count > 0);
  await checkGoExchanges(peer, join(mesh.folder, 'dialer.json'), service);
}

test(
  'the defaults, with a tunnel in mode host: SDKs meet at the router, and reach what it hosts',
  { skip },
  async (t) => {
    assert.match(await runGenerated(t, 'default', []), /mode: host/);
    await checkCircuits();
    await checkHosted(t, 'default');
  },
);

test('--tunnelerMode host with --private: SDKs reach what the router hosts', { skip }, async (t) => {
  const file = await runGenerated(t, 'host-mode', ['--tunnelerMode', 'host', '--private']);
  assert.match(file, /mode: host/);
  await checkHosted(t, 'host-mode');
});

test('--tunnelerMode none: SDKs meet at the router', { skip }, async (t) => {
  assert.match(await runGenerated(t, 'none', ['--tunnelerMode', 'none']), /^# {2}- binding: tunnel$/m);
  await checkCircuits();
});

test('--private: a router without link listeners', { skip }, async (t) => {
  const file = await runGenerated(t, 'private', ['--private', '--tunnelerMode', 'none']);
  assert.match(file, /^# {2}listeners:$/m);
  await checkCircuits();
});

test('--wss: SDKs meet at the router over WebSocket', { skip }, async (t) => {
  const file = await runGenerated(t, 'wss', ['--wss', '--tunnelerMode', 'none']);
  assert.match(file, /address: wss:/);
  const listed = await mesh.network.run('edge list edge-routers -j');
  assert.match(listed, /"wss": "wss:\/\/localhost:\d+"/);
  await checkCircuits();
});

test(
  '--tunnelerMode tproxy: SDKs meet at the router, and reach what it hosts',
  { skip: skipTproxy },
  async (t) => {
    const file = await runGenerated(t, 'tproxy', ['--tunnelerMode', 'tproxy']);
    assert.match(file, /mode: tproxy/);
    await checkCircuits();
    await checkHosted(t, 'tproxy');
  },
);
