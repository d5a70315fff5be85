/**
 * A customer's network beside the machine of a frontdoor, in two network namespaces with a wire between them. The packet
 * filter of the site drops what leaves it but for what a test opens. Names are those of /etc/hosts on either side.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { ChildProcess } from 'node:child_process';
import type { TestContext } from 'node:test';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE, type AgentStatusResult } from '#domain/agent-shapes';
import { repositoryRoot } from '../../tools/pinned-process.ts';
import { makeTestAuthority } from './certificates.ts';
import { until } from './deadline.ts';
import { NetworkNamespace } from './network-namespace.ts';

export const SERVER_NAME = 'frontdoor.example';
export const SERVER_ADDRESS = '192.0.2.1';
export const PROXY_ADDRESS = '192.0.2.3';
export const SITE_ADDRESS = '192.0.2.2';
const API_PORT = 8081;
const HTTP_PORT = 8080;
const ENTRY = join(repositoryRoot, 'bin/frontdoor.ts');
const NODE_ARGS = ['--disable-warning=ExperimentalWarning', ENTRY];
const START_MS = 120_000;
const MAX_SHOWN_CHARS = 1_000;

export interface FrontdoorReady {
  readonly frontdoorId: string;
  readonly accountId: string;
  readonly apiToken: string;
}

export interface SiteProcess {
  readonly child: ChildProcess;
  /** What it printed so far. */
  text(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface UpInTheWorld {
  readonly args?: readonly string[];
  /** The name in the certificate of the Management API, and its address. */
  readonly apiName?: string;
  readonly apiUrl?: string;
}

interface GatewayPlace {
  readonly side?: NetworkNamespace;
  /** More options replace the usual ones. */
  readonly args?: readonly string[];
}

type Cleaned = Pick<TestContext, 'after'>;

export class CustomerSite {
  readonly folder: string;
  readonly site: NetworkNamespace;
  readonly world: NetworkNamespace;
  readonly #t: Cleaned;
  /** Sides whose files are mounted. */
  readonly #named = new Set<NetworkNamespace>();
  #serverAddress = SERVER_ADDRESS;
  #credentials: Readonly<Record<string, string>> = {};

  private constructor(t: Cleaned, folder: string, site: NetworkNamespace, world: NetworkNamespace) {
    this.#t = t;
    this.folder = folder;
    this.site = site;
    this.world = world;
  }

  static async open(t: Cleaned): Promise<CustomerSite> {
    // Programs of other users, such as squid, read and write files in it.
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-site-'));
    const [site, world] = [await NetworkNamespace.open(t), await NetworkNamespace.open(t)];
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    await world.join(site, `${SERVER_ADDRESS}/24`, `${SITE_ADDRESS}/24`);
    // Otherwise the first address takes the others with it when it goes.
    await world.run('sh', '-c', 'echo 1 > /proc/sys/net/ipv4/conf/lan/promote_secondaries');
    await world.run('ip', 'addr', 'add', `${PROXY_ADDRESS}/24`, 'dev', 'lan');
    const opened = new CustomerSite(t, folder, site, world);
    await opened.setNames(world, [`${SERVER_ADDRESS} ${SERVER_NAME}`]);
    await opened.setNames(site, [`${PROXY_ADDRESS} proxy.example`]);
    return opened;
  }

  /** The folder of the sources, from which their names resolve. */
  get root(): string {
    return repositoryRoot;
  }

  /** Returns the authority (PEM) of the Management API's certificate. */
  get apiCa(): string {
    return readFileSync(this.file('api-ca.pem'), 'utf8');
  }

  /** Gives the server another address instead of its former one. */
  async moveServer(address: string): Promise<void> {
    await this.world.run('ip', 'addr', 'add', `${address}/24`, 'dev', 'lan');
    await this.world.run('ip', 'addr', 'del', `${this.#serverAddress}/24`, 'dev', 'lan');
    this.#serverAddress = address;
    await this.setNames(this.world, [`${address} ${SERVER_NAME}`]);
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  /** Replaces /etc/hosts and the resolver of one side: names that are not given do not exist there. */
  async setNames(
    side: NetworkNamespace,
    lines: readonly string[],
    resolver = 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n',
  ): Promise<void> {
    const name = side === this.site ? 'site' : 'world';
    const [hosts, resolv] = [this.file(`${name}.hosts`), this.file(`${name}.resolv`)];
    writeFileSync(hosts, ['127.0.0.1 localhost', ...lines, ''].join('\n'));
    writeFileSync(resolv, resolver);
    if (this.#named.has(side)) return;
    this.#named.add(side);
    await side.run('mount', '--bind', hosts, '/etc/hosts');
    await side.run('mount', '--bind', resolv, '/etc/resolv.conf');
  }

  /** From now on the site reaches nothing outside but this port. */
  async allowOnly(address: string, port: number): Promise<void> {
    const rules = `flush ruleset
table inet site {
  chain out {
    type filter hook output priority 0; policy drop;
    oif lo accept
    ip daddr ${SITE_ADDRESS} accept
    ip daddr ${address} tcp dport ${port} accept
  }
}
`;
    writeFileSync(this.file('rules.nft'), rules);
    await this.site.run('nft', '-f', this.file('rules.nft'));
  }

  start(
    side: NetworkNamespace,
    program: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): SiteProcess {
    const output: string[] = [];
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const child = side.start('env', [...variables, program, ...args], output);
    const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
    const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
      child.kill(signal);
      await ended;
    };
    this.#t.after(() => stop('SIGKILL'));
    return { child, text: () => output.join(''), stop };
  }

  /** `frontdoor up` in the world, at its name; more options replace its usual ones. */
  async startUp({
    args = [],
    apiName = SERVER_NAME,
    apiUrl = `https://${SERVER_NAME}:${API_PORT}`,
  }: UpInTheWorld = {}): Promise<{ readonly up: SiteProcess; readonly ready: FrontdoorReady }> {
    const authority = await makeTestAuthority();
    const tls = await authority.issue(apiName, { dns: [apiName] });
    writeFileSync(this.file('api.pem'), tls.cert);
    writeFileSync(this.file('api.key'), tls.key, { mode: 0o600 });
    writeFileSync(this.file('api-ca.pem'), tls.ca);
    const [dataDir, readyFile] = [this.file('up'), this.file('up.json')];
    mkdirSync(dataDir, { mode: 0o700 });
    const words = ['up', '--data-dir', dataDir, '--ready-file', readyFile, '--listen', '0.0.0.0'];
    const names = [
      '--advertise',
      SERVER_NAME,
      '--api-cert',
      this.file('api.pem'),
      '--api-key',
      this.file('api.key'),
    ];
    const up = this.start(this.world, process.execPath, [...NODE_ARGS, ...words, ...names, ...args], {
      FRONTDOOR_LOG: 'info',
    });
    const { value: ready } = await until(
      'frontdoor up',
      () => readyOf(readyFile),
      (found) => found !== undefined || up.child.exitCode !== null,
      START_MS,
    );
    if (ready === undefined) throw new Error(`frontdoor up ended: ${up.text().slice(-MAX_SHOWN_CHARS)}`);
    const { frontdoorId, accountId, apiToken } = ready;
    this.#credentials = {
      FRONTDOOR_ID: frontdoorId,
      FRONTDOOR_ACCOUNT_ID: accountId,
      FRONTDOOR_API_TOKEN: apiToken,
      FRONTDOOR_API_URL: apiUrl,
      HOME: this.folder,
    };
    return { up, ready };
  }

  /** `frontdoor …` with the credentials of the first account. Rejects with its output if it fails. */
  async frontdoor(
    side: NetworkNamespace,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const all = { ...this.#credentials, ...env };
    const variables = Object.entries(all).map(([name, value]) => `${name}=${value}`);
    return side.run('env', ...variables, process.execPath, ...NODE_ARGS, ...args);
  }

  /** A file with a code that enrolls one agent. */
  async enrollmentCode(name: string): Promise<string> {
    const args = ['agents', 'enroll', '--json', '--ca', this.file('api-ca.pem')];
    const { enrollmentCode: code } = JSON.parse(await this.frontdoor(this.world, args)) as {
      enrollmentCode: string;
    };
    const path = this.file(`${name}.code`);
    writeFileSync(path, code, { mode: 0o600 });
    return path;
  }

  /** `frontdoor agent start` in the site. It enrolls with the file of a code, if there is one. */
  startAgent(name: string, env: Readonly<Record<string, string>>, more: readonly string[] = []): SiteProcess {
    const api = ['--api', this.#credentials['FRONTDOOR_API_URL']!, '--ca', this.file('api-ca.pem')];
    const words = ['agent', 'start', '--data-dir', this.file(name), ...api, ...more];
    return this.start(this.site, process.execPath, [...NODE_ARGS, ...words], env);
  }

  /** `frontdoor gateway`, by default in the site and over plain HTTP. It enrolls with the file of a token. */
  startGateway(
    port: number,
    jwtFile: string,
    { side = this.site, args = [] }: GatewayPlace = {},
  ): SiteProcess {
    const place = ['--data-dir', this.file('gateway'), '--enrollment-jwt', jwtFile];
    const words = ['gateway', ...place, '--http-port', String(port), '--https-port', '0', ...args];
    return this.start(side, process.execPath, [...NODE_ARGS, ...words]);
  }

  socketOf(name: string): string {
    return join(this.file(name), AGENT_SOCKET_FILE);
  }

  /** Undefined while the agent does not answer. */
  status(name: string): Promise<AgentStatusResult | undefined> {
    return callAgent(this.socketOf(name), { op: 'status' }, 5_000).catch(() => undefined);
  }

  /** The body of a response for a public share, or the reason why there is none. */
  answerOf(share: string, securePort?: number, address = this.#serverAddress): Promise<string> {
    const to = `${address}:${securePort ?? HTTP_PORT}`;
    return this.#answer(this.world, share, to, securePort !== undefined);
  }

  /** Returns what `answerOf` does, from a gateway of the site. */
  answerNear(share: string, port: number): Promise<string> {
    return this.#answer(this.site, share, `127.0.0.1:${port}`, false);
  }

  #answer(side: NetworkNamespace, share: string, at: string, isSecure: boolean): Promise<string> {
    const url = `${isSecure ? 'https' : 'http'}://${share}.share.localhost/`;
    const args = ['--silent', '--show-error', '--max-time', '5', '--fail', '--noproxy', '*', '--insecure'];
    return side
      .run('curl', ...args, '--connect-to', `::${at}`, url)
      .catch((error: unknown) => String(error).slice(0, MAX_SHOWN_CHARS));
  }
}

/** Undefined while the file does not exist. It is written at once. */
function readyOf(path: string): FrontdoorReady | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as FrontdoorReady) : undefined;
}
