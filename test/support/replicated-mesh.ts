/**
 * Control planes over one PostgreSQL, each a process of its own, and routers in a mesh. The file of each
 * router names one of them. More control planes may join later.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FirstStart } from '#control';
import { callCommand } from './command-line.ts';
import { until } from './deadline.ts';
import type { AdminCredentials } from './edge-management-client.ts';
import type { MeshRouter, MeshRouterShape, JsonRow } from './fabric-mesh.ts';
import { keepEndpoint, routerFile } from './mesh-router-file.ts';
import { PartProcess } from './part-process.ts';
import { sharedPostgres } from './postgres.ts';
import type { ReplicaReady } from './replicated.ts';
import { portFor, portOf, type RouterReady } from './separate.ts';

const WAIT_MS = 60_000;

export type Replica = PartProcess<ReplicaReady>;

export class ReplicatedMesh {
  readonly folder = mkdtempSync(join(tmpdir(), 'frontdoor-replicated-mesh-'));
  readonly #database: string;
  readonly #key = `k1 ${randomBytes(32).toString('base64')}\n`;
  readonly #replicas: Replica[] = [];
  readonly #routers: MeshRouter[] = [];
  #credentials: FirstStart | undefined;

  private constructor(database: string) {
    this.#database = database;
  }

  static async start(): Promise<ReplicatedMesh> {
    return new ReplicatedMesh(await (await sharedPostgres()).createDatabase());
  }

  /** Starts one more control plane, with further options. */
  async replica(name: string, ...options: string[]): Promise<Replica> {
    const folder = join(this.folder, name);
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(join(folder, 'secrets.key'), this.#key, { mode: 0o600 });
    const readyFile = join(this.folder, `${name}.json`);
    const part: Replica = new PartProcess<ReplicaReady>({
      name,
      env: { FRONTDOOR_DATABASE: this.#database },
      readyFile,
      args: async (last) => [
        'control',
        '--data-dir',
        folder,
        '--ready-file',
        readyFile,
        '--api-port',
        await portFor(last?.apiUrl),
        '--edge-api-port',
        await portFor(last?.edgeApiUrl),
        '--ctrl-port',
        await portFor(last?.ctrlAddress),
        ...options,
      ],
    });
    this.#replicas.push(part);
    const ready = await part.start();
    if (ready.apiToken !== undefined) this.#credentials = ready as FirstStart & ReplicaReady;
    return part;
  }

  /** Creates an administrator of the edge management API. */
  async admin(at: Replica): Promise<AdminCredentials> {
    const passwordFile = join(this.folder, 'password');
    const credentials = { username: 'root', password: 'a password of an administrator' };
    writeFileSync(passwordFile, `${credentials.password}\n`);
    await callCommand([
      'admins',
      'create',
      '--data-dir',
      join(this.folder, at.name),
      '--database',
      this.#database,
      '--username',
      credentials.username,
      '--password-file',
      passwordFile,
      '--out',
      join(this.folder, 'admin.json'),
    ]);
    return credentials;
  }

  /** Credentials of the first account, which the first replica made. */
  get credentials(): FirstStart {
    return this.#credentials!;
  }

  /** `frontdoor …` at one of them. */
  run(at: Replica, ...args: string[]): Promise<string> {
    return callCommand(args, {
      FRONTDOOR_API_URL: at.ready.apiUrl,
      FRONTDOOR_ACCOUNT_ID: this.#credentials!.accountId,
      FRONTDOOR_API_TOKEN: this.#credentials!.apiToken,
    });
  }

  async list(at: Replica, kind: 'routers' | 'links' | 'circuits'): Promise<JsonRow[]> {
    return JSON.parse(await this.run(at, 'fabric', kind, '--json')) as JsonRow[];
  }

  /** A router whose file names the control plane `at`, and no other. It is created with further options. */
  async router(at: Replica, name: string, shape: MeshRouterShape, ...options: string[]): Promise<MeshRouter> {
    const folder = join(this.folder, name);
    mkdirSync(folder);
    const file = join(folder, 'router.yml');
    const controllerPort = Number(portOf(at.ready.ctrlAddress));
    writeFileSync(file, routerFile(folder, { controllerPort, ...shape }));
    const jwt = join(folder, 'router.jwt');
    const made = await this.run(at, 'fabric', 'router', 'create', name, '--out', jwt, '--json', ...options);
    await callCommand(['router', 'enroll', file, '--jwt', jwt]);
    keepEndpoint(file, { controllerPort });
    const readyFile = join(folder, 'ready.json');
    const process = new PartProcess<RouterReady>({
      name,
      readyFile,
      args: () => ['router', 'run', file, '--ready-file', readyFile],
    });
    const router = { name, id: (JSON.parse(made) as { id: string }).id, file, process };
    this.#routers.push(router);
    await process.start();
    return router;
  }

  /** The addresses that a router remembers, once they are those of exactly these control planes; and the file's mode. */
  async untilRemembered(router: MeshRouter, replicas: readonly Replica[]): Promise<number> {
    const file = join(dirname(router.file), 'endpoints.yml');
    const wanted = replicas.map(({ ready }) => ready.ctrlAddress).sort();
    await until(
      `${router.name} remembers ${replicas.map(({ name }) => name).join(', ')}`,
      () => [...new Set(readFileSync(file, 'utf8').match(/tls:[\w.]+:\d+/g))].sort(),
      (endpoints) => JSON.stringify(endpoints) === JSON.stringify(wanted),
      WAIT_MS,
    );
    return statSync(file).mode & 0o777;
  }

  /** Waits until all routers are online at the control plane and as many links are up. */
  async untilMeshed(at: Replica, links: number): Promise<void> {
    const online = (rows: JsonRow[]): boolean =>
      this.#routers.every(({ name }) => rows.some((row) => row['name'] === name && row['online'] === true));
    await until(`all routers at ${at.name}`, () => this.list(at, 'routers'), online, WAIT_MS);
    const usable = (rows: JsonRow[]): boolean =>
      rows.filter((row) => row['usable'] === true).length === links;
    await until(`${links} links at ${at.name}`, () => this.list(at, 'links'), usable, WAIT_MS);
  }

  async stop(): Promise<void> {
    await Promise.all(
      [...this.#routers.map(({ process }) => process), ...this.#replicas].map((part) => part.kill()),
    );
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** The last lines of each part. */
  get output(): string {
    const parts = [...this.#replicas, ...this.#routers.map(({ process }) => process)];
    return parts.map(({ name, output }) => `--- ${name}\n${output.slice(-4_000)}`).join('\n');
  }
}
