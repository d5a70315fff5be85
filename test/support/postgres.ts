/**
 * A throw-away PostgreSQL for tests: its own directory, a free port, fsync as in earnest, one role that has a password.
 * Started once per test process and removed with it. Where PostgreSQL is not installed tests skip, naming it; under
 * FRONTDOOR_TEST_STRICT=1 they fail.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until, within } from './deadline.ts';
import { freePort } from './free-port.ts';
import { isAlive } from './process-state.ts';

const ROLE = 'frontdoor';
const START_MS = 90_000;
const KEPT_LINES = 200;
/** Signals of the server for its three ways to stop. */
const STOPS = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

/** The role's password: tests look for it where it must not be. */
export const POSTGRES_PASSWORD = 'canary-of-postgres';

const BIN = findPrograms();

/** For `skip` of tests that need PostgreSQL. */
export const postgresSkip: string | false =
  BIN === undefined && process.env['FRONTDOOR_TEST_STRICT'] !== '1' ? 'PostgreSQL is not installed' : false;

export interface PostgresServer {
  /** Of the server's main process. */
  readonly pid: number;
  readonly port: number;
  /** Its last lines. */
  readonly log: string;
  /** A new, empty database. */
  createDatabase(options?: string): Promise<string>;
  /** The URL of a database of this server, whether there is one or not. */
  urlOf(database: string): string;
  /** Runs SQL as the superuser; what it prints, unaligned. */
  sql(statement: string, database?: string): Promise<string>;
  /** Resolves once it takes connections. */
  start(): Promise<void>;
  stop(mode?: keyof typeof STOPS): Promise<void>;
  /** As a crash would: all its processes at once. */
  kill(): Promise<void>;
  /** Stops it and removes all that it stored. */
  destroy(): void;
}

let shared: Promise<PostgresServer> | undefined;

/** The one server of this test process, running. */
export function sharedPostgres(): Promise<PostgresServer> {
  shared ??= startPostgres();
  return shared;
}

export interface PostgresOptions {
  /** Names and values of its configuration. */
  readonly settings?: Readonly<Record<string, string>>;
  /** PEM: connections may be encrypted with it. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** A server of one's own, to stop and to kill. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  if (BIN === undefined) throw new Error('PostgreSQL is not installed: no initdb and postgres were found');
  const server = new LocalPostgres(BIN, options);
  process.once('exit', () => server.destroy());
  await server.initialize();
  await server.start();
  return server;
}

class LocalPostgres implements PostgresServer {
  readonly #bin: string;
  readonly #options: PostgresOptions;
  readonly #owner = ownerOf();
  readonly #folder: string;
  readonly #data: string;
  #port = 0;
  #child: ChildProcess | undefined;
  #lines: string[] = [];
  #databases = 0;

  constructor(bin: string, options: PostgresOptions) {
    this.#bin = bin;
    this.#options = options;
    this.#folder = mkdtempSync(join(tmpdir(), 'frontdoor-postgres-'));
    this.#data = join(this.#folder, 'data');
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get port(): number {
    return this.#port;
  }

  get log(): string {
    return this.#lines.join('\n');
  }

  async initialize(): Promise<void> {
    if (this.#owner !== undefined) chownSync(this.#folder, this.#owner.uid, this.#owner.gid);
    chmodSync(this.#folder, 0o755);
    const options = [
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
      '--username=postgres',
      '--no-sync',
    ];
    await this.#run('initdb', ['-D', this.#data, ...options]);
    const access = [
      'local all postgres trust',
      'local all all scram-sha-256',
      'host all all 127.0.0.1/32 scram-sha-256',
    ];
    writeFileSync(join(this.#data, 'pg_hba.conf'), `${access.join('\n')}\n`);
    const { tls } = this.#options;
    if (tls !== undefined) {
      writeFileSync(join(this.#data, 'server.crt'), tls.cert);
      writeFileSync(join(this.#data, 'server.key'), tls.key, { mode: 0o600 });
      if (this.#owner !== undefined)
        chownSync(join(this.#data, 'server.key'), this.#owner.uid, this.#owner.gid);
    }
    this.#port = await freePort();
  }

  async start(): Promise<void> {
    const isNew = this.#lines.length === 0;
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(this.#port),
      unix_socket_directories: this.#folder,
      max_connections: '200',
      deadlock_timeout: '100ms',
      ...(this.#options.tls === undefined ? {} : { ssl: 'on' }),
      ...this.#options.settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(join(this.#bin, 'postgres'), ['-D', this.#data, ...args], {
      ...this.#owner,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    const ready = Promise.withResolvers<void>();
    child.once('error', ready.reject);
    child.once('exit', () => ready.reject(new Error(`PostgreSQL ended:\n${this.log}`)));
    createInterface({ input: child.stderr }).on('line', (line) => {
      this.#lines.push(line);
      if (this.#lines.length > KEPT_LINES) this.#lines.shift();
      if (line.includes('is ready to accept connections')) ready.resolve();
    });
    // It ends with this process, which does not wait for it.
    child.unref();
    (child.stderr as unknown as { unref(): void }).unref();
    await within('a PostgreSQL that is ready', ready.promise, START_MS);
    if (isNew) await this.sql(`create role ${ROLE} login createdb password '${POSTGRES_PASSWORD}'`);
  }

  async createDatabase(options = ''): Promise<string> {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.sql(`create database ${name} owner ${ROLE} ${options}`);
    return this.urlOf(name);
  }

  urlOf(database: string): string {
    return `postgres://${ROLE}:${POSTGRES_PASSWORD}@127.0.0.1:${this.#port}/${database}`;
  }

  sql(statement: string, database = 'postgres'): Promise<string> {
    const where = ['-h', this.#folder, '-p', String(this.#port), '-U', 'postgres', '-d', database];
    return this.#run('psql', [...where, '-X', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-c', statement]);
  }

  async stop(mode: keyof typeof STOPS = 'fast'): Promise<void> {
    await this.#end(STOPS[mode]);
  }

  async kill(): Promise<void> {
    // A child that is left alone would serve its connection until it sees that the main process is gone, and none can
    // be started while a former one holds the shared memory. Stopped, the main process makes no other meanwhile.
    this.#child?.kill('SIGSTOP');
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(this.pid)], { encoding: 'utf8' });
    const children = stdout.split('\n').map(Number).filter(Boolean);
    const ended = this.#end('SIGKILL');
    for (const pid of children) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
    await ended;
    await until(
      'its other processes end',
      () => children.filter(isAlive),
      (left) => left.length === 0,
    );
  }

  destroy(): void {
    if (this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) {
      const stop = ['stop', '-D', this.#data, '-m', 'immediate', '-w', '-t', '10'];
      spawnSync(join(this.#bin, 'pg_ctl'), stop, { ...this.#owner, cwd: '/', stdio: 'ignore' });
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const ended = once(child, 'exit');
    child.kill(signal);
    await within('the end of PostgreSQL', ended, START_MS);
  }

  async #run(program: string, args: readonly string[]): Promise<string> {
    const child = spawn(join(this.#bin, program), args, {
      ...this.#owner,
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    const [status] = (await within(program, once(child, 'close'), START_MS)) as [number | null];
    if (status !== 0) throw new Error(`${program} failed: ${err}${out}\n${this.log}`);
    return out.trim();
  }
}

/** Debian keeps the server's programs out of PATH. */
function findPrograms(): string | undefined {
  const packaged = globSync('/usr/lib/postgresql/*/bin').toSorted(
    (a, b) => Number(b.split('/')[4]) - Number(a.split('/')[4]),
  );
  const folders = [...packaged, ...(process.env['PATH'] ?? '').split(':')];
  return folders.find((folder) =>
    ['initdb', 'postgres', 'psql', 'pg_ctl'].every((name) => existsSync(join(folder, name))),
  );
}

/** The server refuses to run as root: then it runs as the user that its package made. */
function ownerOf(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string): number =>
    Number(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout.trim() || 'none');
  const owner = { uid: idOf('-u'), gid: idOf('-g') };
  if (Number.isNaN(owner.uid)) throw new Error('there is no user postgres to run PostgreSQL as');
  return owner;
}
