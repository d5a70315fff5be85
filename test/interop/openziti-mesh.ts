/**
 * A mesh of OpenZiti's routers and ours at OpenZiti's controller: real processes on loopback, each enrolled by its own
 * command. All of them are stopped together.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Running } from '../support/child-process.ts';
import { until } from '../support/deadline.ts';
import { OpenZitiNetwork, type OpenZitiOptions } from '../support/openziti-network.ts';
import { PartProcess, runCommand } from '../support/part-process.ts';
import { keepEndpoint, routerFile, type RouterShape } from '../support/mesh-router-file.ts';

const READY_MS = 30_000;

/** The controller's own port unless another is named. */
export type OpenZitiRouterShape = Omit<RouterShape, 'controllerPort'> &
  Partial<Pick<RouterShape, 'controllerPort'>> & {
    /** The router has an identity of its own, which can dial and host services. */
    readonly isTunneler?: boolean;
  };

export interface GoRouter {
  kill(): Promise<void>;
  /** Again, with the same file and identity. */
  start(): Promise<void>;
}

export interface MeshTerminator {
  readonly id: string;
  readonly service: string;
  readonly router: string;
  readonly binding: string;
  readonly precedence: string;
  readonly cost: number;
}

export interface MeshLink {
  readonly id: string;
  readonly iteration: number;
  readonly sourceRouter: string;
  readonly destRouter: string;
  /** Types of its connections, as its dialer reported them to the controller. */
  readonly connections: readonly string[];
}

export class OpenZitiMesh {
  readonly network: OpenZitiNetwork;
  readonly folder: string;
  readonly #ours: PartProcess<unknown>[] = [];

  private constructor(network: OpenZitiNetwork, folder: string) {
    this.network = network;
    this.folder = folder;
  }

  static async start(binary: string, options?: OpenZitiOptions): Promise<OpenZitiMesh> {
    const folder = mkdtempSync(join(tmpdir(), 'frontdoor-interop-'));
    return new OpenZitiMesh(await OpenZitiNetwork.start(binary, folder, options), folder);
  }

  /** Starts OpenZiti's router; returns when the controller reports it online. */
  async goRouter(name: string, shape: OpenZitiRouterShape): Promise<GoRouter> {
    const file = await this.#prepare(name, shape);
    await this.network.run(`router enroll ${file} --jwt ${name}.jwt`);
    keepEndpoint(file, shape);
    const start = (): Promise<Running> => this.network.start(name, `run router ${file} --cliagent=false`);
    let running = await start();
    await this.untilOnline(name);
    return {
      kill: () => running.stop('SIGKILL'),
      start: async () => {
        running = await start();
        await this.untilOnline(name);
      },
    };
  }

  /** A router of Frontdoor that is enrolled but not started: its file. */
  async prepareOurs(name: string, shape: OpenZitiRouterShape): Promise<string> {
    const file = await this.#prepare(name, shape);
    await runCommand(['router', 'enroll', file, '--jwt', join(this.folder, `${name}.jwt`)]);
    keepEndpoint(file, shape);
    return file;
  }

  async ourRouter(
    name: string,
    shape: OpenZitiRouterShape,
    logLevel = 'debug',
  ): Promise<PartProcess<unknown>> {
    const file = await this.prepareOurs(name, shape);
    const ready = join(this.folder, name, 'ready.json');
    const part = new PartProcess({
      name,
      args: () => ['router', 'run', file, '--ready-file', ready, '--log-level', logLevel],
      readyFile: ready,
    });
    this.#ours.push(part);
    await part.start();
    await this.untilOnline(name);
    return part;
  }

  /** Starts a router of either make; returns its process id when the controller reports it online. */
  async routerOf(make: 'ours' | 'theirs', name: string, shape: OpenZitiRouterShape): Promise<number> {
    if (make === 'ours') return (await this.ourRouter(name, shape, 'warn')).pid;
    await this.goRouter(name, shape);
    return this.network.processes.get(`ziti ${name}`)!;
  }

  async untilOnline(name: string, isOnline = true): Promise<void> {
    const is = async (): Promise<boolean> =>
      (await this.#list('edge-routers', 'edge')).some(
        (one) => one['name'] === name && one['isOnline'] === isOnline,
      );
    await until(`router ${name} ${isOnline ? 'online' : 'offline'}`, is, (it) => it, READY_MS);
  }

  /** Links that the controller lists, by the routers' names. */
  async links(): Promise<MeshLink[]> {
    const nameOf = (end: unknown): string => String((end as { name?: unknown }).name);
    return (await this.#list('links', 'fabric')).map((one) => ({
      id: String(one['id']),
      iteration: Number(one['iteration']),
      sourceRouter: nameOf(one['sourceRouter']),
      destRouter: nameOf(one['destRouter']),
      connections: ((one['connections'] ?? []) as { type: string }[]).map(({ type }) => type).sort(),
    }));
  }

  async terminators(): Promise<MeshTerminator[]> {
    const nameOf = (entity: unknown): string => String((entity as { name?: unknown }).name);
    return (await this.#list('terminators', 'edge')).map((one) => ({
      id: String(one['id']),
      service: nameOf(one['service']),
      router: nameOf(one['router']),
      binding: String(one['binding']),
      precedence: String(one['precedence']),
      cost: Number(one['cost']),
    }));
  }

  /** Names of the routers on the path of each circuit, ingress first. */
  async paths(): Promise<string[][]> {
    return (await this.#list('circuits', 'fabric')).map((one) => {
      const { nodes } = one['path'] as { nodes: readonly { readonly name: string }[] };
      return nodes.map(({ name }) => name);
    });
  }

  async circuitIds(): Promise<string[]> {
    return (await this.#list('circuits', 'fabric')).map((one) => String(one['id']));
  }

  async routerId(name: string): Promise<string> {
    return String((await this.#list('edge-routers', 'edge')).find((one) => one['name'] === name)!['id']);
  }

  /** Creates a service without an edge: a circuit to it ends at `127.0.0.1:port` behind `router`. */
  async service(name: string, router: string, port: number, protocol: 'tcp' | 'udp' = 'tcp'): Promise<void> {
    const binding = protocol === 'tcp' ? 'transport' : 'transport_udp';
    await this.network.run(`fabric create service ${name}`);
    const id = await this.routerId(router);
    await this.network.run(
      // An id may begin with a hyphen.
      `fabric create terminator --binding ${binding} -- ${name} ${id} ${protocol}:127.0.0.1:${port}`,
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.#ours.map((part) => part.stop()));
    await this.network.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** What the last lines of each of our routers' logs say. */
  get ourOutput(): string {
    return this.#ours.map(({ name, output }) => `--- ${name}\n${output}`).join('\n');
  }

  async #prepare(name: string, shape: OpenZitiRouterShape): Promise<string> {
    const folder = join(this.folder, name);
    mkdirSync(folder);
    const file = join(folder, 'router.yml');
    writeFileSync(file, routerFile(folder, { controllerPort: this.network.controllerPort, ...shape }));
    const tunneler = shape.isTunneler === true ? ' -t' : '';
    await this.network.run(`edge create edge-router ${name} -o ${name}.jwt${tunneler}`);
    readFileSync(join(this.folder, `${name}.jwt`));
    return file;
  }

  async #list(kind: string, area: 'edge' | 'fabric'): Promise<Readonly<Record<string, unknown>>[]> {
    const output = await this.network.run(`${area} list ${kind} -j`, 'true limit none');
    const { data } = JSON.parse(output.slice(output.indexOf('{'))) as { data: Record<string, unknown>[] };
    return data;
  }
}
