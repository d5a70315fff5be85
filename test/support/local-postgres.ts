/**
 * A throw-away PostgreSQL that this process starts: its own directory, a free port, fsync as in earnest unless its settings
 * say otherwise. It is removed with this process.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until, within } from './deadline.ts';
import { freePort } from './free-port.ts';
import { POSTGRES_DEADLINE_MS, POSTGRES_PASSWORD, POSTGRES_ROLE, PostgresAccess } from './postgres-access.ts';
import { isAlive } from './process-state.ts';

const KEPT_LINES = 200;
/** Signals of the server for its three ways to stop. */
const STOPS = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

export interface PostgresServer extends PostgresAccess {
  /** The id of the server's main process. */
  readonly pid: number;
  /** The last lines of its log. */
  readonly log: string;
  /** Resolves once it takes connections. */
  start(): Promise<void>;
  stop(mode?: keyof typeof STOPS): Promise<void>;
  /** Ends all its processes at once, as a crash would. */
  kill(): Promise<void>;
  /** Stops all its processes as a debugger or a sleeping machine does: connections stay open, and nothing answers. */
  freeze(): void;
  /** Ends a freeze. */
  thaw(): void;
  /** Stops it and removes all that it stored. */
  destroy(): void;
}

export interface PostgresOptions {
  /** Names and values of its configuration. */
  readonly settings?: Readonly<Record<string, string>>;
  /** PEM: connections may be encrypted with it. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export class LocalPostgres extends PostgresAccess implements PostgresServer {
  readonly #options: PostgresOptions;
  readonly #data: string;
  #port = 0;
  #child: ChildProcess | undefined;
  #lines: string[] = [];

  constructor(bin: string, options: PostgresOptions) {
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-postgres-'));
    super({ bin, folder }, () => this.#port);
    this.#options = options;
    this.#data = join(folder, 'data');
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get log(): string {
    return this.#lines.join('\n');
  }

  async initialize(): Promise<void> {
    if (this.owner !== undefined) chownSync(this.place.folder, this.owner.uid, this.owner.gid);
    chmodSync(this.place.folder, 0o755);
    const options = [
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
      '--username=postgres',
      '--no-sync',
    ];
    await this.run('initdb', ['-D', this.#data, ...options]);
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
      if (this.owner !== undefined) chownSync(join(this.#data, 'server.key'), this.owner.uid, this.owner.gid);
    }
    this.#port = await freePort();
  }

  async start(): Promise<void> {
    const isNew = this.#lines.length === 0;
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(this.#port),
      unix_socket_directories: this.place.folder,
      max_connections: '200',
      deadlock_timeout: '100ms',
      ...(this.#options.tls === undefined ? {} : { ssl: 'on' }),
      ...this.#options.settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(join(this.place.bin, 'postgres'), ['-D', this.#data, ...args], {
      ...this.owner,
      cwd: this.place.folder,
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
    await within('a PostgreSQL that is ready', ready.promise, POSTGRES_DEADLINE_MS);
    if (isNew) await this.sql(`create role ${POSTGRES_ROLE} login createdb password '${POSTGRES_PASSWORD}'`);
  }

  async stop(mode: keyof typeof STOPS = 'fast'): Promise<void> {
    await this.#end(STOPS[mode]);
  }

  async kill(): Promise<void> {
    // A child that is left alone would serve its connection until it sees that the main process is gone, and none can
    // be started while a former one holds the shared memory. Stopped, the main process makes no other in the meantime.
    this.#child?.kill('SIGSTOP');
    const children = this.#children();
    const ended = this.#end('SIGKILL');
    signalAll(children, 'SIGKILL');
    await ended;
    await until(
      'its other processes end',
      () => children.filter(isAlive),
      (left) => left.length === 0,
    );
  }

  freeze(): void {
    // Stopped, the main process makes no other in the meantime.
    this.#child?.kill('SIGSTOP');
    signalAll(this.#children(), 'SIGSTOP');
  }

  thaw(): void {
    signalAll(this.#children(), 'SIGCONT');
    this.#child?.kill('SIGCONT');
  }

  destroy(): void {
    if (this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null) {
      const stop = ['stop', '-D', this.#data, '-m', 'immediate', '-w', '-t', '10'];
      spawnSync(join(this.place.bin, 'pg_ctl'), stop, { ...this.owner, cwd: '/', stdio: 'ignore' });
    }
    rmSync(this.place.folder, { recursive: true, force: true });
  }

  #children(): number[] {
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(this.pid)], { encoding: 'utf8' });
    return stdout.split('\n').map(Number).filter(Boolean);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const ended = once(child, 'exit');
    child.kill(signal);
    await within('the end of PostgreSQL', ended, POSTGRES_DEADLINE_MS);
  }
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended in the meantime.
    }
  }
}
