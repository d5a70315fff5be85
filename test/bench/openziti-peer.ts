/**
 * A whole OpenZiti network beside the product, made new for a run by the `ziti` of the one who runs it: controller,
 * edge router, `ziti tunnel host` at the private service, `ziti tunnel proxy` as its door. Every address is on loopback,
 * every setting that does not say where to listen is its default; end-to-end encryption is one of them.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { runZiti, zitiEnvironment } from '../support/ziti-command.ts';
import { freePort, startProcess, until, type Running } from './bench-process.ts';
import type { Peer } from './outside-peers.ts';
import { untilServed } from './product.ts';

export const OPENZITI = 'OpenZiti';
/** Linux calls its loopback interface so; `ziti tunnel proxy` takes interfaces, not addresses. */
const LOOPBACK_INTERFACE = 'lo';
const LISTEN_DEADLINE_MS = 30_000;
const STOP_GRACE_MS = 5_000;

interface Ports {
  readonly controller: number;
  readonly edge: number;
  readonly proxy: number;
}

function controllerFile(folder: string, { controller }: Ports): string {
  const pki = join(folder, 'pki');
  const signer = join(pki, 'signer');
  const identity = `
  ca: "${join(pki, 'root/certs/root.cert')}"
  cert: "${join(signer, 'certs/client.chain.pem')}"
  server_cert: "${join(signer, 'certs/server.chain.pem')}"
  key: "${join(signer, 'keys/server.key')}"`;
  return `v: 3
db: "${join(folder, 'controller.db')}"
identity:${identity}
ctrl:
  options:
    advertiseAddress: tls:localhost:${controller}
  listener: tls:127.0.0.1:${controller}
edge:
  api:
    address: localhost:${controller}
  enrollment:
    signingCert:
      cert: "${join(signer, 'certs/signer.cert')}"
      key: "${join(signer, 'keys/signer.key')}"
    edgeIdentity: { duration: 30m }
    edgeRouter: { duration: 30m }
web:
  - name: all
    bindPoints:
      - interface: 127.0.0.1:${controller}
        address: localhost:${controller}
    identity:${identity.replaceAll('\n', '\n    ')}
    apis:
      - binding: edge-management
      - binding: edge-client
      - binding: edge-oidc
      - binding: fabric
`;
}

function routerFile(folder: string, { controller, edge }: Ports): string {
  return `v: 3
identity:
  cert: "${join(folder, 'router.cert')}"
  server_cert: "${join(folder, 'router.server.cert')}"
  key: "${join(folder, 'router.key')}"
  ca: "${join(folder, 'router.ca')}"
ctrl:
  endpoint: tls:localhost:${controller}
link:
  dialers:
    - binding: transport
listeners:
  - binding: edge
    address: tls:127.0.0.1:${edge}
    options:
      advertise: localhost:${edge}
edge:
  csr:
    sans:
      dns: [localhost]
      ip: ["127.0.0.1"]
`;
}

class Network {
  readonly #binary: string;
  readonly #folder: string;
  readonly #running: [name: string, running: Running][] = [];

  constructor(binary: string, folder: string) {
    this.#binary = binary;
    this.#folder = folder;
  }

  get processes(): ReadonlyMap<string, number> {
    return new Map(this.#running.map(([name, { child }]) => [name, child.pid!]));
  }

  /** Throws with what it printed when it fails. */
  async run(line: string, ...more: string[]): Promise<void> {
    const { status, output } = await runZiti(this.#binary, this.#folder, [...line.split(' '), ...more]);
    if (status !== 0) throw new Error(`ziti ${line} failed (${status}): ${output.slice(-2_000)}`);
  }

  /** Starts what runs on; resolves when it takes connections at `port`. */
  async start(name: string, line: string, port?: number): Promise<void> {
    const running = startProcess(this.#binary, line.split(' '), zitiEnvironment(this.#folder), this.#folder);
    this.#running.push([`ziti ${name}`, running]);
    if (port === undefined) return;
    await until(`a listening ziti ${name}`, LISTEN_DEADLINE_MS, async () => {
      if (running.child.exitCode !== null) throw new Error(running.tail());
      await canConnect(port);
    });
  }

  file(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text, { mode: 0o600 });
  }

  async stop(): Promise<void> {
    for (const [, running] of this.#running.toReversed()) await running.stop('SIGTERM', STOP_GRACE_MS);
  }
}

function canConnect(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}

async function makeAuthority(network: Network): Promise<void> {
  const pki = 'pki create';
  const root = '--pki-root pki --curve P256';
  const spiffe = '--spiffe-id spiffe://bench/controller/bench';
  await network.run(`${pki} ca ${root} --ca-file root --ca-name root --trust-domain bench`);
  await network.run(
    `${pki} intermediate ${root} --ca-name root --intermediate-file signer --intermediate-name signer --max-path-len 1`,
  );
  await network.run(
    `${pki} server ${root} --ca-name signer --server-file server --server-name bench --dns localhost --ip 127.0.0.1 ${spiffe}`,
  );
  await network.run(
    `${pki} client ${root} --ca-name signer --client-file client --client-name bench --key-file server ${spiffe}`,
  );
}

async function startController(network: Network, folder: string, ports: Ports): Promise<void> {
  const password = randomBytes(18).toString('base64url');
  network.file('controller.yaml', controllerFile(folder, ports));
  await network.run(`controller edge init controller.yaml -u admin -p ${password}`);
  await network.start('controller', 'run controller controller.yaml --cliagent=false', ports.controller);
  const login = `edge login https://localhost:${ports.controller} -u admin -p ${password} -y`;
  await until('a log-in at the controller', LISTEN_DEADLINE_MS, () => network.run(login));
}

async function startRouter(network: Network, folder: string, ports: Ports): Promise<void> {
  network.file('router.yaml', routerFile(folder, ports));
  await network.run('edge create edge-router router -o router.jwt');
  await network.run('router enroll router.yaml --jwt router.jwt');
  await network.start('router', 'run router router.yaml --cliagent=false', ports.edge);
  await network.run('edge create edge-router-policy all --identity-roles #all --edge-router-roles #all');
  await network.run(
    'edge create service-edge-router-policy all --service-roles #all --edge-router-roles #all',
  );
}

/** The service, who may host it and who may dial it. */
async function makeService(network: Network, servicePort: number, ports: Ports): Promise<void> {
  const host = { protocol: 'tcp', address: '127.0.0.1', port: servicePort };
  const proxy = { protocols: ['tcp'], port: ports.proxy, binding: LOOPBACK_INTERFACE };
  await network.run('edge create config bench-host host.v1', JSON.stringify(host));
  await network.run('edge create config bench-proxy proxy.v1', JSON.stringify(proxy));
  await network.run('edge create service bench --configs bench-host,bench-proxy');
  for (const [name, right] of [
    ['host', 'Bind'],
    ['dialer', 'Dial'],
  ] as const) {
    await network.run(`edge create identity ${name} -o ${name}.jwt`);
    await network.run(`edge enroll --jwt ${name}.jwt --out ${name}.json`);
    await network.run(
      `edge create service-policy ${name} ${right} --service-roles @bench --identity-roles @${name}`,
    );
  }
}

/**
 * From an empty `folder` to the first answer of the private service through it. Throws when any step fails, with what
 * `ziti` said; nothing runs on then.
 */
export async function startOpenZiti(binary: string, folder: string, servicePort: number): Promise<Peer> {
  const ports = { controller: await freePort(), edge: await freePort(), proxy: await freePort() };
  const network = new Network(binary, folder);
  try {
    await makeAuthority(network);
    await startController(network, folder, ports);
    await startRouter(network, folder, ports);
    await makeService(network, servicePort, ports);
    await network.start('tunnel host', 'tunnel host -i host.json --cli-agent=false');
    await network.start('tunnel proxy', 'tunnel proxy -i dialer.json --cli-agent=false', ports.proxy);
    await untilServed(ports.proxy, OPENZITI, '/small');
    return {
      name: OPENZITI,
      port: ports.proxy,
      processes: network.processes,
      stop: () => network.stop(),
    };
  } catch (error) {
    await network.stop();
    throw error;
  }
}
