/**
 * An installation without a single point of failure: two control planes over one PostgreSQL, two routers with
 * a link, two gateways with a control plane each, one agent with a public share. Streams run through it all
 * the time.
 */
import { createServer, request, type ClientRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { callAgent } from '#cli';
import { AGENT_SOCKET_FILE, type AgentShareView, type AgentStatusResult } from '#domain/agent-shapes';
import { JsonClient } from '#net/http';
import { until } from './deadline.ts';
import { freePort } from './free-port.ts';
import type { MeshRouter } from './fabric-mesh.ts';
import { PartProcess } from './part-process.ts';
import { ReplicatedMesh, type Replica } from './replicated-mesh.ts';
import { portFor, portOf, type GatewayReady } from './separate.ts';
import { SteadyProbes, type SteadyProbesOptions } from './steady-probes.ts';

const BODY = 'answered by the service';
/** The interval of a stream's pieces. */
export const STREAM_PIECE_MS = 100;

export interface StopsWorldOptions {
  /** Streams at any time, and how long each of them takes. */
  readonly streams: number;
  readonly streamMs: number;
}

/** A stream that ends only when a part on its way ends it, or `close` does. */
export interface EndlessStream {
  readonly isOpen: boolean;
  /** Number of pieces that arrived. */
  readonly pieces: number;
  close(): void;
}

export class StopsWorld {
  readonly mesh: ReplicatedMesh;
  readonly origin: Server;
  readonly replicas: Replica[] = [];
  readonly routers: MeshRouter[] = [];
  readonly gateways: PartProcess<GatewayReady>[] = [];
  agent!: PartProcess<AgentStatusResult>;
  /** Another process on the agent's data directory. */
  successor!: PartProcess<AgentStatusResult>;
  #host = '';
  #closers: (() => void)[] = [];

  private constructor(mesh: ReplicatedMesh, origin: Server) {
    this.mesh = mesh;
    this.origin = origin;
  }

  static async start(options: StopsWorldOptions): Promise<StopsWorld> {
    const origin = createServer((incoming, answer) => {
      if (incoming.url !== '/stream' && incoming.url !== '/endless') {
        // Then the gateway needs another circuit for the next one.
        if (incoming.url === '/once') answer.setHeader('connection', 'close');
        answer.end(BODY);
        return;
      }
      answer.write('.');
      const timer = setInterval(() => answer.write('.'), STREAM_PIECE_MS);
      const last = incoming.url === '/endless' ? undefined : setTimeout(() => answer.end(), options.streamMs);
      answer.on('close', () => {
        clearInterval(timer);
        clearTimeout(last);
      });
    });
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    const world = new StopsWorld(await ReplicatedMesh.start(), origin);
    try {
      await world.#start();
      for (let stream = 0; stream < options.streams; stream += 1) world.#keepStreaming(stream);
      return world;
    } catch (error) {
      process.stderr.write(world.output);
      await world.stop();
      throw error;
    }
  }

  probes(perSecond: number, more: Partial<SteadyProbesOptions> = {}): SteadyProbes {
    return new SteadyProbes({ ports: this.#ports, host: this.#host, body: BODY, perSecond, ...more });
  }

  /** Opens a stream through each gateway. */
  endlessStreams(): EndlessStream[] {
    return this.#ports.map((port) => {
      const stream = { isOpen: true, pieces: 0, close: () => void asked.destroy() };
      const asked = request({ host: '127.0.0.1', port, path: '/endless', headers: { host: this.#host } });
      asked.on('response', (response) => {
        response.on('data', (pieces: Buffer) => (stream.pieces += pieces.length)).on('error', () => {});
      });
      asked.on('error', () => {});
      asked.on('close', () => (stream.isOpen = false));
      asked.end();
      this.#closers.push(stream.close);
      return stream;
    });
  }

  /** Shares the service once more, under a name that nobody has asked a gateway for. Returns its host. */
  shareQuietly(name: string): Promise<string> {
    return this.#share(name);
  }

  /** Starts one more gateway, to which `probes` and streams do not go. The answer ends it. */
  async extraGateway(name: string): Promise<{ readonly port: number; close(): Promise<void> }> {
    const gateway = await this.#openGateway(name, this.replicas[0]!);
    return { port: Number(portOf(gateway.ready.gatewayUrl)), close: () => gateway.kill() };
  }

  /**
   * Waits until each control plane reports both routers and their link, and both gateways serve the share.
   */
  async untilSettled(): Promise<void> {
    for (const replica of this.replicas) await this.mesh.untilMeshed(replica, 1);
    for (const port of this.#ports)
      await until(
        'an answer',
        () => statusOf(port, this.#host),
        (status) => status === 200,
      );
  }

  async stop(): Promise<void> {
    for (const close of this.#closers) close();
    const parts = [...this.gateways, this.agent, this.successor].filter((part) => part !== undefined);
    await Promise.all(parts.map((part) => part.kill()));
    await this.mesh.stop();
    this.origin.closeAllConnections();
    this.origin.close();
  }

  get output(): string {
    const own = [...this.gateways, this.agent, this.successor].filter((part) => part !== undefined);
    const texts = own.map(({ name, output }) => `--- ${name}\n${output.slice(-4_000)}`);
    return [this.mesh.output, ...texts].join('\n');
  }

  get #ports(): number[] {
    return this.gateways.map(({ ready }) => Number(portOf(ready.gatewayUrl)));
  }

  async #start(): Promise<void> {
    const { mesh } = this;
    for (const name of ['a', 'b']) this.replicas.push(await mesh.replica(name));
    const [a, b] = this.replicas as [Replica, Replica];
    const listener = { port: await freePort(), groups: ['default'] };
    this.routers.push(
      await mesh.router(a, 'r1', { edgePort: await freePort(), linkListener: listener }),
      await mesh.router(b, 'r2', { edgePort: await freePort(), dialGroups: ['default'] }),
    );
    for (const replica of this.replicas) await mesh.untilMeshed(replica, 1);
    for (const router of this.routers) await mesh.untilRemembered(router, this.replicas);
    for (const [at, replica] of this.replicas.entries()) await this.#startGateway(`g${at + 1}`, replica);
    await this.#startAgent(a);
    await this.untilSettled();
  }

  async #startGateway(name: string, at: Replica): Promise<void> {
    this.gateways.push(await this.#openGateway(name, at));
  }

  async #openGateway(name: string, at: Replica): Promise<PartProcess<GatewayReady>> {
    const file = (ending: string): string => join(this.mesh.folder, `${name}${ending}`);
    await this.mesh.run(at, 'fabric', 'gateway', 'create', name, '--out', file('.jwt'));
    const gateway = new PartProcess<GatewayReady>({
      name,
      readyFile: file('.json'),
      args: async (last) => [
        'gateway',
        '--data-dir',
        file(''),
        '--enrollment-jwt',
        file('.jwt'),
        '--http-port',
        await portFor(last?.gatewayUrl),
        '--ready-file',
        file('.json'),
      ],
    });
    await gateway.start();
    return gateway;
  }

  async #startAgent(at: Replica): Promise<void> {
    const { accountId, apiToken, frontdoorId } = this.mesh.credentials;
    const client = new JsonClient({ origin: at.ready.apiUrl });
    const { json } = await client.request({
      method: 'POST',
      path: `/frontdoor/${frontdoorId}/agents/enrollments`,
      headers: { authorization: `Basic ${accountId}:${apiToken}` },
    });
    await client.close();
    const { enrollmentCode } = json as { enrollmentCode: string };
    const dataDir = join(this.mesh.folder, 'agent');
    const socket = this.#agentSocket;
    const agent = (name: string): PartProcess<AgentStatusResult> => {
      const part: PartProcess<AgentStatusResult> = new PartProcess({
        name,
        // The socket is the former process's until this one has taken its place.
        probe: async () => {
          const status = await callAgent(socket, { op: 'status' }, 1_000);
          if (status.pid !== part.pid) throw new Error('another process answers');
          return status;
        },
        args: () => [
          'agent',
          'start',
          '--data-dir',
          dataDir,
          '--api',
          at.ready.apiUrl,
          '--name',
          'agent',
          '--enrollment-token',
          enrollmentCode,
        ],
      });
      return part;
    };
    this.agent = agent('agent');
    this.successor = agent('successor');
    await this.agent.start();
    this.#host = await this.#share('probed');
  }

  /** Returns the host of the share. */
  async #share(name: string): Promise<string> {
    const target = `http://127.0.0.1:${(this.origin.address() as AddressInfo).port}`;
    const text = await this.mesh.run(
      this.replicas[0]!,
      ...['agent', 'share', 'public', target, '--name', name, '--socket', this.#agentSocket, '--json'],
    );
    const { endpoints } = JSON.parse(text) as AgentShareView;
    return new URL(endpoints[0]!).hostname;
  }

  get #agentSocket(): string {
    return join(this.mesh.folder, 'agent', AGENT_SOCKET_FILE);
  }

  /** Keeps one stream open after another; the probes report failures. */
  #keepStreaming(number: number): void {
    let current: ClientRequest | undefined;
    let isOver = false;
    const next = (): void => {
      if (isOver) return;
      const port = this.#ports[number % this.#ports.length]!;
      const asked = request({ host: '127.0.0.1', port, path: '/stream', headers: { host: this.#host } });
      current = asked;
      asked.on('response', (response) => response.resume().on('error', () => {}));
      asked.on('error', () => {});
      asked.on('close', () => setTimeout(next, 50));
      asked.end();
    };
    next();
    this.#closers.push(() => {
      isOver = true;
      current?.destroy();
    });
  }
}

function statusOf(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, headers: { host }, agent: false });
    asked.on('response', (response) => resolve(response.resume().statusCode));
    asked.on('error', reject);
    asked.end();
  });
}
