/**
 * What tests do with a running PostgreSQL, whichever process started it: SQL as the superuser, and databases for the
 * role `frontdoor`, which has a password.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { within } from './deadline.ts';
import { ownerOf } from './postgres-programs.ts';

/** A program of PostgreSQL, and a start of the server, may take as long as this on a crowded machine. */
export const POSTGRES_DEADLINE_MS = 90_000;

export const POSTGRES_ROLE = 'frontdoor';

/** The role's password: tests search for it where it must not be. */
export const POSTGRES_PASSWORD = 'canary-of-postgres';

export interface PostgresPlace {
  /** The directory of the server's programs. */
  readonly bin: string;
  /** The directory of the server's Unix socket. */
  readonly folder: string;
}

export class PostgresAccess {
  protected readonly place: PostgresPlace;
  protected readonly owner = ownerOf();
  #databases = 0;
  readonly #templates = new Map<string, Promise<void>>();
  readonly #portOf: () => number;

  constructor(place: PostgresPlace, portOf: () => number) {
    this.place = place;
    this.#portOf = portOf;
  }

  get port(): number {
    return this.#portOf();
  }

  /** The server's Unix socket. */
  get socketPath(): string {
    return join(this.place.folder, `.s.PGSQL.${this.port}`);
  }

  /** Path of a program of PostgreSQL. */
  programPath(name: string): string {
    return join(this.place.bin, name);
  }

  /** Creates an empty database and returns its URL. `options` are those of `create database`. */
  async createDatabase(options = ''): Promise<string> {
    this.#databases += 1;
    const name = `test_${process.pid}_${this.#databases}`;
    await this.sql(`create database ${name} owner ${POSTGRES_ROLE} ${options}`);
    return this.urlOf(name);
  }

  /** Creates a database as `prepare` leaves one: it is called once a server, and its database copied from then on. */
  async createCopy(template: string, prepare: (url: string) => Promise<void>): Promise<string> {
    let made = this.#templates.get(template);
    if (made === undefined) this.#templates.set(template, (made = this.#makeTemplate(template, prepare)));
    await made;
    return this.createDatabase(`template ${template}`);
  }

  /** The URL of a database of this server, whether there is one or not. */
  urlOf(database: string): string {
    return `postgres://${POSTGRES_ROLE}:${POSTGRES_PASSWORD}@127.0.0.1:${this.port}/${database}`;
  }

  /** Runs SQL as the superuser and resolves to its unaligned output. */
  sql(statement: string, database = 'postgres'): Promise<string> {
    const where = ['-h', this.place.folder, '-p', String(this.port), '-U', 'postgres', '-d', database];
    return this.run('psql', [...where, '-X', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-c', statement]);
  }

  protected async run(program: string, args: readonly string[]): Promise<string> {
    const child = spawn(join(this.place.bin, program), args, {
      ...this.owner,
      cwd: this.place.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    const [status] = (await within(program, once(child, 'close'), POSTGRES_DEADLINE_MS)) as [number | null];
    if (status !== 0) throw new Error(`${program} failed: ${err}${out}`);
    return out.trim();
  }

  /** The first of several test processes to rename its database makes the template; the others drop theirs. */
  async #makeTemplate(template: string, prepare: (url: string) => Promise<void>): Promise<void> {
    const exists = `select 1 from pg_database where datname = '${template}'`;
    if ((await this.sql(exists)) === '1') return;
    const url = await this.createDatabase();
    const name = new URL(url).pathname.slice(1);
    await prepare(url);
    try {
      await this.sql(`alter database ${name} rename to ${template}`);
    } catch (error) {
      if ((await this.sql(exists)) !== '1') throw error;
      await this.sql(`drop database ${name}`);
    }
  }
}
