/**
 * A mesh of our routers. Each link goes through a fault point; an echo service is behind one router, and
 * listeners for it are at others. It also reads the links and circuits that the control plane and the routers
 * report.
 */
import { join } from 'node:path';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE } from '#domain/agent-shapes';
import { JsonClient } from '#net/http';
import { LINK_DIALER_DEFAULTS } from '../../src/router/config/testing/router-config-defaults.ts';
import { EchoService } from './counted-echo.ts';
import { until } from './deadline.ts';
import { FabricMesh, type MeshRouter, type JsonRow } from './fabric-mesh.ts';
import type { FaultNetwork, FaultPoint } from './fault-point.ts';
import { PartProcess } from './part-process.ts';
import { resume } from './process-faults.ts';

export interface Timers {
  /** How long a link may be silent before it is closed. */
  readonly linkCloseMs: number;
  /** How long the routers' channels to the control plane may be silent. */
  readonly ctrlCloseMs: number;
  readonly idleCircuitMs: number;
  readonly idleTxMs: number;
}

export interface FaultMeshShape {
  readonly network: FaultNetwork;
  /** Pairs of dialer and listener: `['in', 'out']`. They name the routers. */
  readonly links: readonly (readonly [dialer: string, listener: string])[];
  /** Routers with a listener for the service. */
  readonly doors: readonly string[];
  /** The router that the service is behind. */
  readonly service: string;
  /** A router that SDKs come in at, over a place that can fail, too. */
  readonly edgeAt?: string | undefined;
  /** Undefined leaves the router's defaults. */
  readonly timers?: Timers | undefined;
}

const SERVICE = 'echo';
const SETTLE_MS = 60_000;
const LINK_CONNECTIONS = LINK_DIALER_DEFAULTS.maxDefaultConnections + LINK_DIALER_DEFAULTS.maxAckConnections;

export class FaultMesh {
  readonly mesh: FabricMesh;
  readonly service: EchoService;
  readonly routers = new Map<string, MeshRouter>();
  readonly doors = new Map<string, number>();
  readonly #points = new Map<string, FaultPoint>();
  readonly #shape: FaultMeshShape;
  #edgePoint: FaultPoint | undefined;
  #agent: PartProcess | undefined;

  private constructor(mesh: FabricMesh, service: EchoService, shape: FaultMeshShape) {
    this.mesh = mesh;
    this.service = service;
    this.#shape = shape;
  }

  /** Resolves when all links stand. */
  static async start(shape: FaultMeshShape): Promise<FaultMesh> {
    const mesh = await FabricMesh.start();
    const faults = new FaultMesh(mesh, await EchoService.start(), shape);
    try {
      await faults.#start();
      return faults;
    } catch (error) {
      process.stderr.write(mesh.output.slice(-10_000));
      await faults.stop().catch(() => {});
      throw error;
    }
  }

  /** Between these two, in the order in which the shape names them. */
  point(dialer: string, listener: string): FaultPoint {
    return this.#points.get(`${dialer}-${listener}`)!;
  }

  /** Where routers dial and take links. */
  get linkPorts(): number[] {
    return [...this.#points.values()].flatMap(({ port, listenerPort }) => [port, listenerPort]);
  }

  /** Between SDKs and the router at `edgeAt`. */
  get edgePoint(): FaultPoint {
    return this.#edgePoint!;
  }

  /** An agent of the only frontdoor, attached to the router at `edgeAt`. */
  async startAgent(): Promise<PartProcess> {
    const { apiUrl, frontdoorId } = this.mesh.access;
    const made = await this.call('POST', `/frontdoor/${frontdoorId}/agents/enrollments`);
    const { enrollmentCode } = made as { enrollmentCode: string };
    const folder = join(this.mesh.folder, 'agent');
    const agent = new PartProcess<unknown>({
      name: 'agent',
      probe: () => callAgent(join(folder, AGENT_SOCKET_FILE), { op: 'status' }, 1_000),
      args: () => [
        'agent',
        'start',
        '--data-dir',
        folder,
        '--api',
        apiUrl,
        '--name',
        'agent',
        '--enrollment-token',
        enrollmentCode,
      ],
    });
    this.#agent = agent;
    await agent.start();
    return agent;
  }

  router(name: string): MeshRouter {
    return this.routers.get(name)!;
  }

  nameOf(routerId: unknown): string {
    return [...this.routers.values()].find(({ id }) => id === routerId)?.name ?? String(routerId);
  }

  /** Paths of the circuits by id, as the control plane reports them: names of routers joined by `-`. */
  async circuits(): Promise<Map<string, string>> {
    const rows = await this.#pages('circuits');
    return new Map(rows.map((row) => [String(row['id']), (row['routerNames'] as string[]).join('-')]));
  }

  /** Ids of the usable links by `dialer-listener`, as the control plane reports them. */
  async links(): Promise<Map<string, string>> {
    const rows = (await this.#pages('links')).filter((row) => row['usable'] === true);
    return new Map(
      rows.map((row) => [
        `${String(row['sourceRouterName'])}-${String(row['destinationRouterName'])}`,
        String(row['id']),
      ]),
    );
  }

  onlineRouters(): Promise<Set<string>> {
    return this.#pages('routers').then(
      (rows) => new Set(rows.filter((row) => row['online'] === true).map((row) => String(row['name']))),
    );
  }

  /** Circuits and links that each connected router reports. */
  async held(): Promise<Map<string, { readonly circuits: Set<string>; readonly links: Set<string> }>> {
    const { values } = (await this.call('POST', '/fabric/inspect', {
      names: ['router-circuits', 'links'],
    })) as {
      values: { routerId: string; name: string; value?: Inspected }[];
    };
    const held = new Map<string, { circuits: Set<string>; links: Set<string> }>();
    for (const { routerId, name, value } of values) {
      const router = this.nameOf(routerId);
      const one = held.get(router) ?? { circuits: new Set(), links: new Set() };
      held.set(router, one);
      if (name === 'router-circuits')
        for (const id of Object.keys(value?.circuits ?? {})) one.circuits.add(id);
      else for (const { id } of value?.links ?? []) one.links.add(id);
    }
    return held;
  }

  async untilAllOnline(timeoutMs = SETTLE_MS): Promise<number> {
    const all = this.routers.size;
    const { tookMs } = await until(
      'all routers online',
      () => this.onlineRouters(),
      ({ size }) => size === all,
      timeoutMs,
    );
    return tookMs;
  }

  /** How long it took until exactly the links of the shape stand, here and at the routers, and none beside them. */
  async untilLinked(timeoutMs = SETTLE_MS): Promise<number> {
    const wanted = this.#shape.links.map(([dialer, listener]) => [
      `${dialer}-${listener}`,
      `${listener}-${dialer}`,
    ]);
    const { tookMs } = await until(
      'each link stands once',
      async () => {
        const links = await this.links();
        const ids = [...links.values()].sort();
        const atRouters = [...(await this.held()).values()].flatMap((one) => [...one.links]).sort();
        const areWanted = wanted.every(([one, other]) => links.has(one!) || links.has(other!));
        const isOnce = links.size === wanted.length && (await this.#pages('links')).length === wanted.length;
        return {
          areWanted: areWanted && isOnce,
          ids: ids.flatMap((id) => [id, id]).join(),
          at: atRouters.join(),
        };
      },
      ({ areWanted, ids, at }) => areWanted && ids === at,
      timeoutMs,
    );
    return tookMs;
  }

  /** Waits until every link has all its connections; those after the first one come seconds later. */
  async untilLinksWhole(timeoutMs = SETTLE_MS): Promise<void> {
    const counts = async (): Promise<number[]> =>
      (await this.#pages('links')).map((row) => (row['connections'] as unknown[]).length);
    const isWhole = (each: readonly number[]): boolean =>
      each.length === this.#shape.links.length && each.every((count) => count === LINK_CONNECTIONS);
    await until('all connections of every link', counts, isWhole, timeoutMs);
  }

  /** Waits until both ends of every link had an answer to a heartbeat; before that their timeout is twice as long. */
  async untilLinksAnswer(timeoutMs = SETTLE_MS): Promise<void> {
    const ask = async (): Promise<number> => {
      const { values } = (await this.call('POST', '/fabric/inspect', { names: ['metrics'] })) as {
        values: { value?: { histograms?: Record<string, { count: number }> } }[];
      };
      const histograms = values.flatMap(({ value }) => Object.entries(value?.histograms ?? {}));
      return histograms.filter(([name, { count }]) => /^link\..*\.latency$/.test(name) && count > 0).length;
    };
    const ends = 2 * this.#shape.links.length;
    await until('an answer at both ends of every link', ask, (count) => count === ends, timeoutMs);
  }

  /** SDKs to which the router reports channels. */
  async edgeConnections(name: string): Promise<number | undefined> {
    const body = { names: ['metrics'], routerId: this.router(name).id };
    const { values } = (await this.call('POST', '/fabric/inspect', body)) as {
      values: { value?: { intValues?: Record<string, number> } }[];
    };
    return values[0]?.value?.intValues?.['edge.connections'];
  }

  /** How long it took until neither the control plane nor any router holds a circuit. */
  async untilNoCircuits(timeoutMs: number): Promise<number> {
    const { tookMs } = await until(
      'no circuits are left',
      async () => {
        const atRouters = [...(await this.held())].map(
          ([name, { circuits }]) => [name, circuits.size] as const,
        );
        return { known: (await this.circuits()).size, atRouters };
      },
      ({ known, atRouters }) =>
        known === 0 && atRouters.length === this.routers.size && atRouters.every(([, count]) => count === 0),
      timeoutMs,
    );
    return tookMs;
  }

  async call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
    const { apiUrl, accountId, apiToken } = this.mesh.access;
    const url = new URL(apiUrl);
    const client = new JsonClient({ origin: url.origin, timeoutMs: 15_000 });
    try {
      const { status, json } = await client.request({
        method,
        path: url.pathname.replace(/\/$/, '') + path,
        headers: { authorization: `Basic ${accountId}:${apiToken}` },
        body,
      });
      if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
      return json;
    } finally {
      await client.close();
    }
  }

  async stop(): Promise<void> {
    for (const { process: part } of this.routers.values()) resume(part);
    resume(this.mesh.control);
    for (const point of this.#points.values()) await point.heal();
    await this.#edgePoint?.heal();
    await this.#agent?.stop();
    try {
      await this.mesh.stop();
    } finally {
      for (const point of this.#points.values()) await point.close();
      await this.#edgePoint?.close();
      await this.service.close();
    }
  }

  async #pages(kind: string): Promise<JsonRow[]> {
    const { content } = (await this.call('GET', `/fabric/${kind}?size=200`)) as { content: JsonRow[] };
    return content;
  }

  async #start(): Promise<void> {
    const { links, doors, service } = this.#shape;
    const listeners = new Map<string, object[]>();
    for (const [dialer, listener] of links) {
      const port = await FabricMesh.freePort();
      const point = await this.#shape.network.point(port);
      this.#points.set(`${dialer}-${listener}`, point);
      const entry = {
        binding: 'transport',
        bind: `tls:127.0.0.1:${port}`,
        advertise: `tls:localhost:${point.port}`,
        groups: [`${dialer}-${listener}`],
      };
      listeners.set(listener, [...(listeners.get(listener) ?? []), entry]);
    }
    for (const name of doors) this.doors.set(name, await FabricMesh.freePort());
    const names = [...new Set(links.flat())];
    const started = names.map(async (name) => {
      const port = this.doors.get(name);
      const shape = {
        ...(port === undefined ? {} : { proxy: { port, service: SERVICE } }),
        sections: {
          ...this.#sections(name, listeners.get(name) ?? []),
          ...(name === this.#shape.edgeAt ? await this.#edgeSections() : {}),
        },
      };
      this.routers.set(name, await this.mesh.router(name, shape));
    });
    const failed = (await Promise.allSettled(started)).find(({ status }) => status === 'rejected');
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason as Error;
    await this.mesh.service(SERVICE, this.router(service).id, `tcp:127.0.0.1:${this.service.port}`);
    await this.untilLinked();
  }

  async #edgeSections(): Promise<Record<string, unknown>> {
    const port = await FabricMesh.freePort();
    this.#edgePoint = await this.#shape.network.point(port);
    const options = { advertise: `localhost:${this.#edgePoint.port}` };
    return { edge: {}, listeners: [{ binding: 'edge', address: `tls:127.0.0.1:${port}`, options }] };
  }

  #sections(name: string, listeners: readonly object[]): Record<string, unknown> {
    const { links, timers } = this.#shape;
    const quick = { minRetryInterval: '100ms', maxRetryInterval: '1s', retryBackoffFactor: 1.5 };
    const groups = links
      .filter(([dialer]) => dialer === name)
      .map(([dialer, listener]) => `${dialer}-${listener}`);
    const dialers =
      groups.length === 0
        ? []
        : [{ binding: 'transport', groups, healthyDialBackoff: quick, unhealthyDialBackoff: quick }];
    if (timers === undefined) return { link: { listeners, dialers } };
    const heartbeats = (closeMs: number): object => ({
      sendInterval: `${Math.round(closeMs / 4)}ms`,
      checkInterval: '100ms',
      closeUnresponsiveTimeout: `${closeMs}ms`,
    });
    const { linkCloseMs, ctrlCloseMs, idleCircuitMs, idleTxMs } = timers;
    return {
      link: { listeners, dialers, heartbeats: heartbeats(linkCloseMs) },
      ctrl: { endpoint: `tls:localhost:${this.mesh.controllerPort}`, heartbeats: heartbeats(ctrlCloseMs) },
      forwarder: { idleCircuitTimeout: idleCircuitMs, idleTxInterval: idleTxMs, faultTxInterval: 500 },
    };
  }
}

interface Inspected {
  readonly circuits?: Readonly<Record<string, unknown>>;
  readonly links?: readonly { readonly id: string }[];
}
