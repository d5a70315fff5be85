// Each kind of host with each kind of dialer at OpenZiti's controller, encrypted end to end: our library, our router as a
// tunneler, `ziti tunnel`, and the C SDK. ZITI_BIN names `ziti` (1.7.2), FRONTDOOR_TEST_OPENZITI_PYTHON a Python that has
// `openziti==0.6.0`; without ZITI_BIN all is skipped, without the other one the C SDK.
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { enroll, openOverlay, type Overlay } from '#sdk/library';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { until, within } from '../support/deadline.ts';
import { countedExchange, returnCounted } from '../support/echo-stream.ts';
import { freePort } from '../support/free-port.ts';
import { zitiBinary } from '../support/ziti-command.ts';
import { OpenZitiMesh } from './openziti-mesh.ts';

const BINARY = zitiBinary();
const PYTHON = process.env['FRONTDOOR_TEST_OPENZITI_PYTHON'] ?? '';
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const skipC = skip === false && PYTHON === '' ? 'FRONTDOOR_TEST_OPENZITI_PYTHON is not set' : skip;
const BYTES = 3_000_000;
const EXCHANGE_MS = 40_000;
const HOSTS = ['library', 'router', 'ziti', 'c'] as const;
type Maker = (typeof HOSTS)[number];

let mesh: OpenZitiMesh;
let service: Server;
let overlay: Overlay;
let cHost: ChildProcess | undefined;
/** Ports of the dialers that open them, by the host of the service. */
const ports = { router: {} as Record<Maker, number>, ziti: {} as Record<Maker, number> };

const identityFile = (name: string): string => join(mesh.folder, `${name}.json`);
const serviceOf = (host: Maker): string => `by-${host}`;

before(async () => {
  if (BINARY === undefined) return;
  service = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    returnCounted(socket);
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  mesh = await OpenZitiMesh.start(BINARY);
  const { network } = mesh;
  for (const doors of Object.values(ports)) for (const host of HOSTS) doors[host] = await freePort();
  await network.allowAllRouters();
  const edgePort = await freePort();
  const services = HOSTS.map((host) => `${serviceOf(host)}:${ports.router[host]}`);
  await mesh.ourRouter('router', {
    edgePort,
    isTunneler: true,
    sections: {
      listeners: [
        {
          binding: 'edge',
          address: `tls:127.0.0.1:${edgePort}`,
          options: { advertise: `localhost:${edgePort}` },
        },
        { binding: 'tunnel', options: { mode: 'proxy', services } },
      ],
    },
  });
  const { port } = service.address() as AddressInfo;
  const target = JSON.stringify({ protocol: 'tcp', address: '127.0.0.1', port });
  await network.run('edge create config target host.v1', target);
  for (const name of HOSTS) {
    if (name !== 'router') {
      await network.run(`edge create identity ${name} -o ${name}.jwt`);
      const [tokenFile, file] = [join(mesh.folder, `${name}.jwt`), identityFile(name)];
      if (name === 'library') await enroll({ tokenFile, identityFile: file });
      else await network.run(`edge enroll --jwt ${tokenFile} --out ${file}`);
    }
    const hosted = serviceOf(name);
    await network.run(`edge create service ${hosted} --configs target --encryption ON -a all`);
    await network.run(
      `edge create service-policy ${name}-bind Bind --service-roles @${hosted} --identity-roles @${name}`,
    );
  }
  await network.run('edge create service-policy dial Dial --service-roles #all --identity-roles #all');
  overlay = await openOverlay({ identityFile: identityFile('library') });
  const hosted = await overlay.bind(serviceOf('library'));
  hosted.on('connection', returnCounted);
  await network.start('host', 'tunnel host -i ziti.json --cli-agent=false');
  const words = HOSTS.map((host) => `${serviceOf(host)}:${ports.ziti[host]}`).join(' ');
  await network.start('dialer', `tunnel proxy -i ziti.json --cli-agent=false ${words}`, ports.ziti.library);
});
afterEach((context) => {
  if (!('passed' in context) || context.passed !== false) return;
  for (const text of [mesh?.ourOutput, mesh?.network.tail('host'), mesh?.network.tail('dialer')])
    console.error(text?.slice(-6_000));
});
after(async () => {
  await stopCHost();
  await overlay?.close();
  await mesh?.stop();
  service?.close();
});

const script = (name: string): string => join(repositoryRoot, 'test/compat/c-sdk', name);

async function startCHost(): Promise<void> {
  const host = spawn(PYTHON, [script('host.py'), identityFile('c'), serviceOf('c')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cHost = host;
  await within('the C host', once(host.stdout, 'data'), EXCHANGE_MS);
}

async function stopCHost(): Promise<void> {
  if (cHost === undefined || cHost.exitCode !== null || cHost.signalCode !== null) return;
  const ended = once(cHost, 'exit');
  cHost.kill('SIGKILL');
  await ended;
}

async function openPort(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

/** Each sends bytes to the host's service and compares what comes back. */
const DIALERS: Readonly<Record<Maker, (host: Maker, bytes: number) => Promise<void>>> = {
  library: async (host, bytes) =>
    countedExchange(await overlay.dial(serviceOf(host), { encryption: 'required' }), bytes),
  router: async (host, bytes) => countedExchange(await openPort(ports.router[host]), bytes),
  ziti: async (host, bytes) => countedExchange(await openPort(ports.ziti[host]), bytes),
  c: async (host, bytes) => {
    const args = [script('exchange.py'), identityFile('c'), serviceOf(host), String(bytes)];
    const { stdout } = await promisify(execFile)(PYTHON, args, { timeout: EXCHANGE_MS });
    assert.equal(stdout.trim(), 'whole');
  },
};

/** Terminators and grants come a moment after their policies. */
async function untilServed(dialer: Maker, host: Maker): Promise<void> {
  const isServed = (): Promise<boolean> =>
    DIALERS[dialer](host, 1).then(
      () => true,
      () => false,
    );
  await until(`${host} serves ${dialer}`, isServed, Boolean, EXCHANGE_MS);
}

/** The wheel's host ends with SIGSEGV when a tunneler dials it, also at OpenZiti's own. */
function isCrash(host: Maker, dialer: Maker): boolean {
  return host === 'c' && (dialer === 'router' || dialer === 'ziti');
}

for (const host of HOSTS) {
  for (const dialer of HOSTS) {
    if (isCrash(host, dialer)) continue;
    const isC = host === 'c' || dialer === 'c';
    test(
      `hosted by ${host}, dialed by ${dialer}: every byte returns`,
      { skip: isC ? skipC : skip },
      async () => {
        if (host === 'c') await startCHost();
        await untilServed(dialer, host);
        await within('the exchange', DIALERS[dialer](host, BYTES), EXCHANGE_MS);
        await stopCHost();
      },
    );
  }
}
