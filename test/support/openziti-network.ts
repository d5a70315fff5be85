/**
 * A new OpenZiti network, made by the `ziti` that ZITI_BIN names: a controller with its own authority, and
 * the processes started beside it. All addresses are on loopback; all other settings are defaults.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startProcess, until, untilReady, type Running } from './child-process.ts';
import { freePort } from './free-port.ts';
import { runZiti, zitiEnvironment } from './ziti-command.ts';

const LISTEN_DEADLINE_MS = 30_000;
const STOP_GRACE_MS = 5_000;

export interface OpenZitiOptions {
  /** Life of the tokens of API sessions, such as `1m`, which is the least; 30 minutes when absent. */
  readonly accessTokenDuration?: string;
}

function controllerFile(folder: string, port: number, { accessTokenDuration }: OpenZitiOptions): string {
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
    advertiseAddress: tls:localhost:${port}
  listener: tls:127.0.0.1:${port}
edge:
  api:
    address: localhost:${port}
${accessTokenDuration === undefined ? '' : `  oidc: { accessTokenDuration: ${accessTokenDuration} }\n`}  enrollment:
    signingCert:
      cert: "${join(signer, 'certs/signer.cert')}"
      key: "${join(signer, 'keys/signer.key')}"
    edgeIdentity: { duration: 30m }
    edgeRouter: { duration: 30m }
web:
  - name: all
    bindPoints:
      - interface: 127.0.0.1:${port}
        address: localhost:${port}
    identity:${identity.replaceAll('\n', '\n    ')}
    apis:
      - binding: edge-management
      - binding: edge-client
      - binding: edge-oidc
      - binding: fabric
`;
}

export class OpenZitiNetwork {
  readonly #binary: string;
  readonly #folder: string;
  readonly #running: [name: string, running: Running][] = [];
  /** The controller's port, for control channels and REST. */
  readonly controllerPort: number;

  private constructor(binary: string, folder: string, controllerPort: number) {
    this.#binary = binary;
    this.#folder = folder;
    this.controllerPort = controllerPort;
  }

  /** A controller in an empty `folder`, with the commands of `run` logged in. Throws with the output of `ziti`. */
  static async start(
    binary: string,
    folder: string,
    options: OpenZitiOptions = {},
  ): Promise<OpenZitiNetwork> {
    const network = new OpenZitiNetwork(binary, folder, await freePort());
    try {
      await makeAuthority(network);
      await network.#startController(options);
      return network;
    } catch (error) {
      await network.stop();
      throw error;
    }
  }

  /**
   * The installation that `ziti edge quickstart` makes in `folder`, with its router unless `hasRouter` is false. With the
   * `port` and `password` of an earlier one, it starts that again.
   */
  static async quickstart(
    binary: string,
    folder: string,
    options: {
      readonly port: number;
      readonly password: string;
      readonly routerPort: number;
      readonly hasRouter: boolean;
    },
  ): Promise<OpenZitiNetwork> {
    const { port, password, routerPort, hasRouter } = options;
    const network = new OpenZitiNetwork(binary, folder, port);
    const addresses = `--ctrl-address localhost --ctrl-port ${port} --router-address localhost --router-port ${routerPort}`;
    const words = `edge quickstart --home ${folder} ${addresses} -p ${password}${hasRouter ? '' : ' --no-router'}`;
    try {
      await network.start('quickstart', words, port);
      await network.#login(password);
      return network;
    } catch (error) {
      await network.stop();
      throw error;
    }
  }

  get processes(): ReadonlyMap<string, number> {
    return new Map(this.#running.map(([name, { child }]) => [name, child.pid!]));
  }

  /** Throws with what it printed when it fails. */
  async run(line: string, ...more: string[]): Promise<string> {
    const { status, output } = await runZiti(this.#binary, this.#folder, [...line.split(' '), ...more]);
    if (status !== 0) throw new Error(`ziti ${line} failed (${status}): ${output.slice(-2_000)}`);
    return output;
  }

  /** Starts what runs on; resolves when it takes connections at `port`. */
  async start(name: string, line: string, port?: number): Promise<Running> {
    const running = startProcess(this.#binary, line.split(' '), zitiEnvironment(this.#folder), this.#folder);
    this.#running.push([`ziti ${name}`, running]);
    if (port === undefined) return running;
    await untilReady(`a listening ziti ${name}`, running, LISTEN_DEADLINE_MS, () => canConnect(port));
    return running;
  }

  file(name: string, text: string): void {
    writeFileSync(join(this.#folder, name), text, { mode: 0o600 });
  }

  /** Policies by which every identity and every service may use every edge router. */
  async allowAllRouters(): Promise<void> {
    await this.run('edge create edge-router-policy all --identity-roles #all --edge-router-roles #all');
    await this.allowServicesAllRouters();
  }

  /** A policy by which every service may use every edge router. */
  async allowServicesAllRouters(): Promise<void> {
    await this.run(
      'edge create service-edge-router-policy all --service-roles #all --edge-router-roles #all',
    );
  }

  /** Enrolls the identities `host` and `dialer`, which may bind and dial `services` (`#role` or `@name`). */
  async enrollHostAndDialer(services: string): Promise<void> {
    await this.enroll('host', 'Bind', services);
    await this.enroll('dialer', 'Dial', services);
  }

  /** Enrolls an identity into the file `NAME.json`. Where a router is named, it may use that edge router. */
  async enroll(name: string, right: 'Bind' | 'Dial', services: string, router?: string): Promise<void> {
    await this.run(`edge create identity ${name} -o ${name}.jwt`);
    await this.run(`edge enroll --jwt ${name}.jwt --out ${name}.json`);
    await this.allow(name, right, services);
    if (router === undefined) return;
    const roles = `--identity-roles @${name} --edge-router-roles @${router}`;
    await this.run(`edge create edge-router-policy ${name} ${roles}`);
  }

  /** A policy that is named like its identity. */
  async allow(identity: string, right: 'Bind' | 'Dial', services: string): Promise<void> {
    const roles = `--service-roles ${services} --identity-roles @${identity}`;
    await this.run(`edge create service-policy ${identity} ${right} ${roles}`);
  }

  /** The last output of a process, by the name that it was started under. */
  tail(name: string): string {
    return this.#running.findLast(([started]) => started === `ziti ${name}`)?.[1].tail() ?? '';
  }

  async stop(): Promise<void> {
    for (const [, running] of this.#running.toReversed()) await running.stop('SIGTERM', STOP_GRACE_MS);
  }

  async #startController(options: OpenZitiOptions): Promise<void> {
    const port = this.controllerPort;
    const password = randomBytes(18).toString('base64url');
    this.file('controller.yaml', controllerFile(this.#folder, port, options));
    await this.run(`controller edge init controller.yaml -u admin -p ${password}`);
    await this.start('controller', 'run controller controller.yaml --cliagent=false', port);
    await this.#login(password);
  }

  async #login(password: string): Promise<void> {
    const login = `edge login https://localhost:${this.controllerPort} -u admin -p ${password} -y`;
    await until('a log-in at the controller', LISTEN_DEADLINE_MS, () => this.run(login));
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

async function makeAuthority(network: OpenZitiNetwork): Promise<void> {
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
