/**
 * Pebble, a certificate authority for tests of ACME clients, and the name server that goes with it. Names lead to
 * 127.0.0.1, and HTTP-01 asks the given port. It rejects good nonces now and then, and keeps nothing over a restart.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand } from './child-process.ts';
import { JsonClient } from '#net/http';
import { makeTestAuthority } from './certificates.ts';
import { until } from './deadline.ts';
import { freePort } from './free-port.ts';

const PEBBLE = findCommand('pebble');
const NAME_SERVER = findCommand('pebble-challtestsrv');
/** Per cent of the good nonces. */
const REJECTED_NONCES = 50;

export const withoutPebble =
  (PEBBLE === undefined || NAME_SERVER === undefined) && process.env['FRONTDOOR_TEST_STRICT'] !== '1'
    ? 'pebble is not installed'
    : false;

export interface PebbleOptions {
  /** For its files. */
  readonly folder: string;
  /** The port at which it looks for challenges. */
  readonly httpPort: number;
  /** Lifetime of what it issues, in seconds. */
  readonly lifetime: number;
  /** `host:port` of another name server, which it asks instead of the one that goes with it. */
  readonly nameServer?: string | undefined;
}

type Config = Readonly<Record<string, unknown>>;

export class Pebble {
  readonly directoryUrl: string;
  /** PEM file of the authority of its own TLS. */
  readonly caFile: string;
  /** File with the key of the external account `kid`. */
  readonly bindingKeyFile: string;
  /** `host:port` of the name server. */
  readonly nameServer: string;
  /** URL of the management of the name server, which takes `/set-txt`, `/clear-txt` and `/set-cname`. */
  readonly namesUrl: string;
  readonly #folder: string;
  readonly #ca: string;
  readonly #managementPort: number;
  #config: Config = {};
  readonly #children = new Set<ChildProcess>();
  #pebble: ChildProcess | undefined;

  private constructor(folder: string, ca: string, port: number, nameServer: string | undefined) {
    this.#folder = folder;
    this.#ca = ca;
    this.directoryUrl = `https://localhost:${port}/dir`;
    this.#managementPort = port + 1;
    this.nameServer = nameServer ?? `127.0.0.1:${port + 2}`;
    this.namesUrl = `http://127.0.0.1:${port + 3}`;
    this.caFile = join(folder, 'pebble-ca.pem');
    this.bindingKeyFile = join(folder, 'pebble-eab.key');
  }

  static async start({ folder, httpPort, lifetime, nameServer }: PebbleOptions): Promise<Pebble> {
    const port = await freePort(4);
    const { cert, key, ca } = await (await makeTestAuthority()).issue('localhost');
    const pebble = new Pebble(folder, ca, port, nameServer);
    const bindingKey = Buffer.from('a key of thirty-two bytes, or so').toString('base64url');
    writeFileSync(pebble.caFile, ca);
    writeFileSync(pebble.bindingKeyFile, `${bindingKey}\n`, { mode: 0o600 });
    writeFileSync(join(folder, 'pebble.crt'), cert);
    writeFileSync(join(folder, 'pebble.key'), key, { mode: 0o600 });
    pebble.#config = {
      listenAddress: `127.0.0.1:${port}`,
      managementListenAddress: `127.0.0.1:${pebble.#managementPort}`,
      certificate: join(folder, 'pebble.crt'),
      privateKey: join(folder, 'pebble.key'),
      httpPort,
      tlsPort: httpPort,
      ocspResponderURL: '',
      externalAccountBindingRequired: true,
      externalAccountMACKeys: { kid: bindingKey },
    };
    if (nameServer === undefined) pebble.#startNameServer();
    await pebble.begin(lifetime);
    return pebble;
  }

  #startNameServer(): void {
    this.#spawn(NAME_SERVER!, [
      '-http01',
      '',
      '-https01',
      '',
      '-tlsalpn01',
      '',
      '-defaultIPv4',
      '127.0.0.1',
      '-defaultIPv6',
      '',
      '-dns01',
      this.nameServer,
      '-management',
      new URL(this.namesUrl).host,
    ]);
  }

  /** Starts the authority, with a new root and without accounts. */
  async begin(lifetime: number): Promise<void> {
    const file = join(this.#folder, 'pebble.json');
    writeFileSync(file, JSON.stringify({ pebble: { ...this.#config, certificateValidityPeriod: lifetime } }));
    const args = ['-config', file, '-dnsserver', this.nameServer];
    this.#pebble = this.#spawn(PEBBLE!, args);
    await until('pebble answers', () => this.rootPem(), Boolean);
  }

  /** Lets it receive and not answer, until it is begun again. */
  stall(): void {
    this.#pebble?.kill('SIGSTOP');
  }

  /** Ends the authority alone. */
  async away(): Promise<void> {
    const child = this.#pebble;
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** Lets a name be an alias of another one. */
  async alias(host: string, target: string): Promise<void> {
    const body = JSON.stringify({ host: `${host}.`, target: `${target}.` });
    const response = await fetch(`${this.namesUrl}/set-cname`, { method: 'POST', body });
    if (!response.ok) throw new Error(`/set-cname: ${response.status}`);
  }

  /** The root of what it issues now. */
  async rootPem(): Promise<string> {
    const client = new JsonClient({ origin: `https://localhost:${this.#managementPort}`, ca: this.#ca });
    try {
      const { text } = await client.request({ method: 'GET', path: '/roots/0' });
      return text;
    } finally {
      await client.close();
    }
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGKILL');
  }

  #spawn(command: string, args: readonly string[]): ChildProcess {
    const env = {
      ...process.env,
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: String(REJECTED_NONCES),
      // Each order is validated again.
      PEBBLE_AUTHZREUSE: '0',
    };
    const child = spawn(command, args, { stdio: 'ignore', env });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }
}
