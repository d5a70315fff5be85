/**
 * Each kind of host with each kind of dialer in one network, encrypted end to end: our library, our router as a tunneler,
 * `frontdoor tunnel`, `ziti tunnel`, and the C SDK. FRONTDOOR_TEST_OPENZITI_PYTHON names a Python that has `openziti==0.6.0`; without it the C SDK
 * is skipped.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before } from 'node:test';
import { promisify } from 'node:util';
import { enroll, openOverlay, type Overlay } from '#sdk/library';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { until, within } from './deadline.ts';
import { countedExchange, returnCounted } from './echo-stream.ts';
import { freePort } from './free-port.ts';
import { PartProcess } from './part-process.ts';
import { zitiBinary } from './ziti-command.ts';

/** A network whose administrator `ziti edge` has logged in. */
export interface MixedNetwork {
  /** Where `ziti` runs, and where files of identities are. */
  readonly folder: string;
  /** Runs `ziti edge`: the line's words, and further arguments. */
  edge(line: string, ...more: string[]): Promise<unknown>;
  /** Creates and starts our router, with a tunnel listener in mode proxy for `service:port` each. */
  startRouter(name: string, services: readonly string[]): Promise<void>;
  /** Starts `ziti tunnel` in mode host, and in mode proxy for `service:port` each. */
  startTunnels(identityFile: string, services: readonly string[]): Promise<void>;
  /** What programs logged. */
  output(): string;
  close(): Promise<void>;
}

const BINARY = zitiBinary();
const PYTHON = process.env['FRONTDOOR_TEST_OPENZITI_PYTHON'] ?? '';
const skip = BINARY === undefined ? 'ZITI_BIN is not set' : false;
const skipC = skip === false && PYTHON === '' ? 'FRONTDOOR_TEST_OPENZITI_PYTHON is not set' : skip;
const BYTES = 3_000_000;
const EXCHANGE_MS = 40_000;
const HOSTS = ['library', 'router', 'tunnel', 'ziti', 'c'] as const;
export type Maker = (typeof HOSTS)[number];

/** A host and a dialer each. */
export const MIXES: readonly (readonly [Maker, Maker])[] = HOSTS.flatMap((host) =>
  HOSTS.filter((dialer) => !isCrash(host, dialer)).map((dialer) => [host, dialer] as const),
);

/** Why the mix is not tested, or false. */
export function mixSkip(...makers: readonly Maker[]): string | false {
  return makers.includes('c') ? skipC : skip;
}

const serviceOf = (host: Maker): string => `by-${host}`;
const script = (name: string): string => join(repositoryRoot, 'test/compat/c-sdk', name);

/**
 * Opens the network before the tests of a file, and closes it after them. `open` gets the path of `ziti`. The returned
 * function checks that every byte that the dialer sends returns from the host.
 */
export function mixedHosts(
  open: (binary: string) => Promise<MixedNetwork>,
): (host: Maker, dialer: Maker) => Promise<void> {
  let network: MixedNetwork;
  let service: Server;
  let overlay: Overlay;
  let cHost: ChildProcess | undefined;
  /** Ports of the dialers that open them, by the host of the service. */
  const ports = {
    router: {} as Record<Maker, number>,
    tunnel: {} as Record<Maker, number>,
    ziti: {} as Record<Maker, number>,
  };
  const tunnels: PartProcess[] = [];
  const identityFile = (name: string): string => join(network.folder, `${name}.json`);
  const doorsOf = (dialer: keyof typeof ports): string[] =>
    HOSTS.map((host) => `${serviceOf(host)}:${ports[dialer][host]}`);

  before(async () => {
    if (BINARY === undefined) return;
    service = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      returnCounted(socket);
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    for (const doors of Object.values(ports)) for (const host of HOSTS) doors[host] = await freePort();
    network = await open(BINARY);
    await network.edge('create edge-router-policy all --identity-roles #all --edge-router-roles #all');
    await network.edge('create service-edge-router-policy all --service-roles #all --edge-router-roles #all');
    await network.startRouter('router', doorsOf('router'));
    const { port } = service.address() as AddressInfo;
    const target = JSON.stringify({ protocol: 'tcp', address: '127.0.0.1', port });
    await network.edge('create config target host.v1', target);
    for (const name of HOSTS) await addHost(name);
    await network.edge('create service-policy dial Dial --service-roles #all --identity-roles #all');
    overlay = await openOverlay({ identityFile: identityFile('library') });
    const hosted = await overlay.bind(serviceOf('library'));
    hosted.on('connection', returnCounted);
    await network.startTunnels(identityFile('ziti'), doorsOf('ziti'));
    await startTunnel('host', [serviceOf('tunnel')]);
    await startTunnel('proxy', doorsOf('tunnel'));
  });
  afterEach((context) => {
    if ('passed' in context && context.passed === false)
      console.error([network?.output(), ...tunnels.map(({ output }) => output)].join('\n'));
  });
  after(async () => {
    await stopCHost();
    const statuses = [];
    for (const tunnel of tunnels) statuses.push(await tunnel.stop());
    await overlay?.close();
    await network?.close();
    service?.close();
    assert.deepEqual(
      statuses,
      tunnels.map(() => 0),
    );
  });

  /** Adds the service of a host, and its identity unless it is the router. */
  async function addHost(name: Maker): Promise<void> {
    if (name !== 'router') {
      await network.edge(`create identity ${name} -o ${name}.jwt`);
      const [tokenFile, file] = [join(network.folder, `${name}.jwt`), identityFile(name)];
      if (name === 'library') await enroll({ tokenFile, identityFile: file });
      else await network.edge(`enroll --jwt ${tokenFile} --out ${file}`);
      // Other users may read what `ziti` writes, which our programs refuse.
      chmodSync(file, 0o600);
    }
    const hosted = serviceOf(name);
    await network.edge(`create service ${hosted} --configs target --encryption ON -a all`);
    const roles = `--service-roles @${hosted} --identity-roles @${name}`;
    await network.edge(`create service-policy ${name}-bind Bind ${roles}`);
  }

  /** `frontdoor tunnel` as its own identity. */
  async function startTunnel(mode: 'host' | 'proxy', services: readonly string[]): Promise<void> {
    const readyFile = join(network.folder, `tunnel-${mode}.ready`);
    const words = services.flatMap((service) => ['--service', service]);
    const part = new PartProcess({
      name: `tunnel ${mode}`,
      readyFile,
      args: () => ['tunnel', mode, '--identity', identityFile('tunnel'), '--ready-file', readyFile, ...words],
    });
    tunnels.push(part);
    await part.start();
  }

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

  /** Each sends bytes to the host's service and compares what comes back. */
  const dialers: Readonly<Record<Maker, (host: Maker, bytes: number) => Promise<void>>> = {
    library: async (host, bytes) =>
      countedExchange(await overlay.dial(serviceOf(host), { encryption: 'required' }), bytes),
    router: async (host, bytes) => countedExchange(await openPort(ports.router[host]), bytes),
    tunnel: async (host, bytes) => countedExchange(await openPort(ports.tunnel[host]), bytes),
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
      dialers[dialer](host, 1).then(
        () => true,
        () => false,
      );
    await until(`${host} serves ${dialer}`, isServed, Boolean, EXCHANGE_MS);
  }

  return async (host, dialer) => {
    if (host === 'c') await startCHost();
    await untilServed(dialer, host);
    await within('the exchange', dialers[dialer](host, BYTES), EXCHANGE_MS);
    await stopCHost();
  };
}

/** The wheel's host ends with SIGSEGV when these dial it, also at OpenZiti's own controller. */
function isCrash(host: Maker, dialer: Maker): boolean {
  return host === 'c' && (dialer === 'router' || dialer === 'ziti');
}

async function openPort(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}
