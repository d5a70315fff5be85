/**
 * A control plane with 100 shares is upgraded to a version with one more step of the schema, and returns to the version before by
 * the steps of `docs/guide/upgrading.md`, on one database.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FirstStart } from '#control';
import { JsonClient } from '#net/http';
import { PartProcess, runCommand } from '../support/part-process.ts';
import { sharedPostgres } from '../support/postgres.ts';
import { portFor, type ControlReady } from '../support/separate.ts';
import { runLibrary } from './library-run.ts';
import type { ProgramSource } from './program-source.ts';

export type DatabaseKind = 'embedded' | 'PostgreSQL';

const SHARES = 100;
/** Bounds of a list's page. */
const PAGE = 100;

type Ready = ControlReady & FirstStart;

export class UpgradedDatabase {
  readonly kind: DatabaseKind;
  readonly #folder = mkdtempSync(join(tmpdir(), 'frontdoor-upgrade-'));
  #database: string | undefined;
  #program: ProgramSource;
  #part: PartProcess<Ready>;
  #credentials: FirstStart | undefined;

  private constructor(kind: DatabaseKind, program: ProgramSource, database: string | undefined) {
    this.kind = kind;
    this.#program = program;
    this.#database = database;
    this.#part = this.#newPart();
  }

  static async create(kind: DatabaseKind, program: ProgramSource): Promise<UpgradedDatabase> {
    const database = kind === 'embedded' ? undefined : await (await sharedPostgres()).createDatabase();
    return new UpgradedDatabase(kind, program, database);
  }

  /** Where the data directory is. */
  get dataDir(): string {
    return join(this.#folder, 'data');
  }

  /** Resolves to the time of the start. */
  async start(program: ProgramSource): Promise<number> {
    this.#program = program;
    this.#part = this.#newPart();
    const startedMs = performance.now();
    const ready = await this.#part.start();
    this.#credentials ??= ready;
    return Math.round(performance.now() - startedMs);
  }

  async stop(): Promise<void> {
    await this.#part.stop('SIGTERM');
  }

  async remove(): Promise<void> {
    await this.#part.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async addShares(): Promise<void> {
    const { json } = await this.#call('POST', '/agents/enrollments');
    const { enrollmentCode } = json as { readonly enrollmentCode: string };
    const client = new JsonClient({ origin: this.#part.ready.apiUrl });
    const path = `/frontdoor/agents/bootstrap-token/${enrollmentCode}`;
    const { token } = (await client.request({ method: 'GET', path })).json as { readonly token: string };
    await client.close();
    const [tokenFile, identityFile] = [join(this.#folder, 'token'), join(this.#folder, 'identity.json')];
    writeFileSync(tokenFile, token, { mode: 0o600 });
    const environmentId = await runLibrary(this.#program, 'enroll', tokenFile, identityFile);
    for (let at = 0; at < SHARES; at += 1) {
      const share = {
        environmentId,
        name: `share-${at}`,
        shareMode: at % 2 === 0 ? 'public' : 'private',
        backendMode: 'proxy',
        target: `http://127.0.0.1:${9_000 + at}`,
      };
      const { status, text } = await this.#call('POST', '/shares', share);
      if (status >= 300) throw new Error(`share ${at}: ${text}`);
    }
  }

  /** Their fields as text, in the order of the list. */
  async shares(): Promise<string[]> {
    const { json } = await this.#call('GET', `/shares?size=${PAGE}&sort=name`);
    const { content } = json as { readonly content: readonly Readonly<Record<string, unknown>>[] };
    return content.map(({ id, token, name, target, shareMode }) =>
      [id, token, name, target, shareMode].join(' '),
    );
  }

  /** What `frontdoor upgrade --check` of the version prints, which needs attention. */
  async checkOf(program: ProgramSource): Promise<string> {
    const words = ['upgrade', '--check', '--data-dir', this.dataDir];
    return runCommand(words, this.#environment, program).then(
      () => {
        throw new Error(`${program.name} finds nothing that needs attention`);
      },
      (error: unknown) => (error as Error).message,
    );
  }

  get #environment(): Readonly<Record<string, string>> {
    return this.#database === undefined ? {} : { FRONTDOOR_DATABASE: this.#database };
  }

  /** What the version prints when it is started on a database that it refuses. */
  async refusalOf(program: ProgramSource): Promise<string> {
    this.#program = program;
    this.#part = this.#newPart();
    try {
      await this.#part.start();
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error(`${program.name} has started on a newer database`);
  }

  /** The copy from before the step of the schema. */
  copyBefore(step: string): string {
    const name = this.kind === 'embedded' ? 'control.db' : 'frontdoor.backup';
    const copy = join(this.dataDir, `${name}.before-${step}`);
    if (!existsSync(copy)) throw new Error(`there is no copy ${copy}`);
    return copy;
  }

  /** As the guide says. */
  async returnTo(program: ProgramSource, copy: string): Promise<void> {
    if (this.kind === 'embedded') {
      const commands = `mkdir newer && for file in control.db control.db-wal control.db-shm; do
        if [ -e "$file" ]; then mv "$file" newer/; fi; done && cp -p "$1" control.db`;
      execFileSync('sh', ['-euc', commands, 'sh', copy], { cwd: this.dataDir });
      return;
    }
    this.#database = await (await sharedPostgres()).createDatabase();
    await runCommand(['restore', copy, '--data-dir', this.dataDir], this.#environment, program);
  }

  #newPart(): PartProcess<Ready> {
    const readyFile = join(this.#folder, 'ready.json');
    const program = this.#program;
    return new PartProcess<Ready>({
      name: `control of ${program.name}`,
      program: () => program,
      env: this.#environment,
      readyFile,
      args: async () => [
        ...['control', '--data-dir', this.dataDir, '--zone', 'share.localhost', '--ready-file', readyFile],
        ...['--api-port', await portFor(undefined), '--edge-api-port', await portFor(undefined)],
        ...['--ctrl-port', await portFor(undefined)],
      ],
    });
  }

  async #call(method: 'GET' | 'POST', path: string, body?: object) {
    const { accountId, apiToken, frontdoorId } = this.#credentials!;
    const client = new JsonClient({ origin: this.#part.ready.apiUrl });
    try {
      return await client.request({
        method,
        path: `/frontdoor/${frontdoorId}${path}`,
        headers: { authorization: `Basic ${accountId}:${apiToken}` },
        body,
      });
    } finally {
      await client.close();
    }
  }
}
