/**
 * A mesh at our control plane: real processes on loopback, each router enrolled by its own command, ours or, with
 * OpenZiti's `ziti`, its own. For tests across machines' boundaries, and for the benchmark of the fabric.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JsonClient, type JsonAnswer } from '#net/http';
import { startProcess, type Running } from './child-process.ts';
import { callCommand } from './command-line.ts';
import { freePort } from './free-port.ts';
import { until } from './deadline.ts';
import { keepEndpoint, routerFile, type RouterShape } from './mesh-router-file.ts';
import { PartProcess } from './part-process.ts';
import { portFor, portOf, type ControlReady, type RouterReady } from './separate.ts';
import { runZiti, zitiEnvironment } from './ziti-command.ts';

const READY_MS = 60_000;
const STOP_GRACE_MS = 5_000;

/** The control plane's own port unless another is named. */
export type MeshRouterShape = Omit<RouterShape, 'controllerPort'> &
  Partial<Pick<RouterShape, 'controllerPort'>>;

export interface MeshRouter {
  readonly name: string;
  readonly id: string;
  readonly file: string;
  readonly process: PartProcess<RouterReady>;
}

export interface FirstReady extends ControlReady {
  readonly frontdoorId: string;
  readonly accountId: string;
  readonly apiToken: string;
}

export type JsonRow = Readonly<Record<string, unknown>>;

export interface FabricMeshOptions {
  readonly nodeArgs?: readonly string[];
  readonly logLevel?: string;
  /** Further options of `frontdoor control`. */
  readonly controlArgs?: readonly string[];
}

export class FabricMesh {
  readonly folder: string;
  readonly control: PartProcess<ControlReady>;
  readonly #options: FabricMeshOptions;
  readonly #routers: PartProcess<RouterReady>[] = [];
  readonly #others: Running[] = [];

  private constructor(folder: string, options: FabricMeshOptions) {
    this.folder = folder;
    this.#options = options;
    const file = join(folder, 'control.json');
    this.control = new PartProcess<ControlReady>({
      ...this.#common(),
      name: 'control',
      readyFile: file,
      args: async (last) => [
        'control',
        '--data-dir',
        join(folder, 'control'),
        '--ready-file',
        file,
        '--api-port',
        await portFor(last?.apiUrl),
        '--edge-api-port',
        await portFor(last?.edgeApiUrl),
        '--ctrl-port',
        await portFor(last?.ctrlAddress),
        ...(options.controlArgs ?? []),
      ],
    });
  }

  static async start(options: FabricMeshOptions = {}): Promise<FabricMesh> {
    const mesh = new FabricMesh(mkdtempSync(join(tmpdir(), 'frontdoor-mesh-')), options);
    mesh.#first = (await mesh.control.start()) as FirstReady;
    return mesh;
  }

  #first!: FirstReady;

  /** Where routers dial the control plane. */
  get controllerPort(): number {
    return Number(portOf(this.#first.ctrlAddress));
  }

  /** Where the Management API is, and the first account's credentials. */
  get access(): Pick<FirstReady, 'apiUrl' | 'frontdoorId' | 'accountId' | 'apiToken'> {
    return this.#first;
  }

  /** The ready file of the control plane's first start, which alone holds the credentials. */
  get first(): FirstReady {
    return this.#first;
  }

  /** Calls the Management API below the frontdoor with the first account's credentials. */
  async call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<JsonAnswer> {
    const { accountId, apiToken, frontdoorId } = this.#first;
    const headers = { authorization: `Basic ${accountId}:${apiToken}` };
    return this.#send({ method, path: `/frontdoor/${frontdoorId}${path}`, headers, body });
  }

  /** A new enrollment token of an environment, as agents and SDKs take it. */
  async enrollmentJwt(): Promise<string> {
    const { json: made } = await this.call('POST', '/agents/enrollments');
    const { enrollmentCode } = made as { enrollmentCode: string };
    const path = `/frontdoor/agents/bootstrap-token/${enrollmentCode}`;
    const { json } = await this.#send({ method: 'GET', path });
    return (json as { token: string }).token;
  }

  async #send(request: Parameters<JsonClient['request']>[0]): Promise<JsonAnswer> {
    const client = new JsonClient({ origin: this.#first.apiUrl });
    try {
      return await client.request(request);
    } finally {
      await client.close();
    }
  }

  /** `frontdoor …` with the first account's credentials. */
  run(...args: string[]): Promise<string> {
    return callCommand(args, {
      FRONTDOOR_API_URL: this.#first.apiUrl,
      FRONTDOOR_ACCOUNT_ID: this.#first.accountId,
      FRONTDOOR_API_TOKEN: this.#first.apiToken,
    });
  }

  /** Rows of `frontdoor fabric KIND --json`. */
  async list(kind: 'routers' | 'links' | 'circuits' | 'terminators' | 'services'): Promise<JsonRow[]> {
    return JSON.parse(await this.run('fabric', kind, '--json')) as JsonRow[];
  }

  /** Writes the file, creates the record, enrolls; the process is not started. */
  async prepare(name: string, shape: MeshRouterShape): Promise<MeshRouter> {
    const { file, id } = await this.#record(name, shape);
    await this.run('router', 'enroll', file, '--jwt', join(this.folder, `${name}.jwt`));
    keepEndpoint(file, shape);
    const readyFile = join(this.folder, name, 'ready.json');
    const process = new PartProcess<RouterReady>({
      ...this.#common(),
      name,
      readyFile,
      args: () => ['router', 'run', file, '--ready-file', readyFile],
    });
    this.#routers.push(process);
    return { name, id, file, process };
  }

  /** Starts one of our routers; returns when the control plane reports it online. */
  async router(name: string, shape: MeshRouterShape): Promise<MeshRouter> {
    const router = await this.prepare(name, shape);
    await router.process.start();
    await this.untilOnline(name);
    return router;
  }

  /** Starts OpenZiti's router with `more` options; returns its id when the control plane reports it online. */
  async goRouter(
    binary: string,
    name: string,
    shape: MeshRouterShape,
    more: readonly string[] = [],
  ): Promise<string> {
    const { file, id } = await this.#record(name, shape);
    const jwt = join(this.folder, `${name}.jwt`);
    const { status, output } = await runZiti(binary, this.folder, ['router', 'enroll', file, '--jwt', jwt]);
    if (status !== 0) throw new Error(`ziti router enroll failed: ${output.slice(-2_000)}`);
    keepEndpoint(file, shape);
    const args = ['run', 'router', file, '--cliagent=false', ...more];
    this.#others.push(startProcess(binary, args, zitiEnvironment(this.folder), this.folder));
    await this.untilOnline(name);
    return id;
  }

  async untilOnline(name: string, isOnline = true): Promise<void> {
    await until(
      `router ${name} ${isOnline ? 'online' : 'offline'}`,
      () => this.list('routers'),
      (rows) => rows.some((row) => row['name'] === name && row['online'] === isOnline),
      READY_MS,
    );
  }

  /** The links between two routers, in either direction, once there are `count` that may be used. */
  async untilLinked(a: MeshRouter | string, b: MeshRouter | string, count = 1): Promise<JsonRow[]> {
    const ids = [a, b].map((one) => (typeof one === 'string' ? one : one.id));
    const between = (rows: JsonRow[]): JsonRow[] =>
      rows.filter(
        (row) =>
          row['usable'] === true &&
          ids.includes(String(row['sourceRouterId'])) &&
          ids.includes(String(row['destinationRouterId'])),
      );
    const { value } = await until(
      `a link between ${ids.join(' and ')}`,
      () => this.list('links'),
      (rows) => between(rows).length >= count,
      READY_MS,
    );
    return between(value);
  }

  /** A fabric service that ends at `address` (`tcp:host:port`) behind the router. */
  async service(name: string, routerId: string, address: string): Promise<void> {
    await this.run('fabric', 'service', 'create', name);
    await this.run('fabric', 'terminator', 'create', name, '--router', routerId, '--address', address);
  }

  /** Ends everything; rejects when a part of Frontdoor did not end by itself with status 0. */
  async stop(): Promise<void> {
    const failed: string[] = [];
    for (const part of [...this.#routers.toReversed(), this.control]) {
      if (part.isRunning && (await part.stop()) !== 0) failed.push(`${part.name}:\n${part.output}`);
    }
    for (const running of this.#others) await running.stop('SIGTERM', STOP_GRACE_MS);
    rmSync(this.folder, { recursive: true, force: true });
    if (failed.length > 0) throw new Error(`did not stop cleanly: ${failed.join('\n')}`);
  }

  /** The last lines of each part of Frontdoor. */
  get output(): string {
    return [this.control, ...this.#routers].map(({ name, output }) => `--- ${name}\n${output}`).join('\n');
  }

  static freePort(): Promise<number> {
    return freePort();
  }

  async #record(name: string, shape: MeshRouterShape): Promise<{ file: string; id: string }> {
    const folder = join(this.folder, name);
    if (!existsSync(folder)) mkdirSync(folder);
    const file = join(folder, 'router.yml');
    writeFileSync(file, routerFile(folder, { controllerPort: this.controllerPort, ...shape }));
    const jwt = join(this.folder, `${name}.jwt`);
    const made = await this.run('fabric', 'router', 'create', name, '--out', jwt, '--json');
    return { file, id: (JSON.parse(made) as { id: string }).id };
  }

  #common(): { nodeArgs: readonly string[]; env: Record<string, string> } {
    const { nodeArgs = [], logLevel = 'info' } = this.#options;
    return { nodeArgs, env: { FRONTDOOR_LOG: logLevel } };
  }
}
