/** A gateway for tests with real sockets on both sides: shares by name, origins on loopback, a recorded log. */
import type { EventEmitter } from 'node:events';
import { createServer, type RequestListener, type Server as HttpServer } from 'node:http';
import {
  createServer as createHttp2Server,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  type Settings as Http2Settings,
} from 'node:http2';
import { createServer as createRawServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Log } from '#base';
import type { GatewayShare } from '#domain/gateway-shapes';
import { afterRunning, within } from '../../../test/support/deadline.ts';
import { recordingLog } from '../../../test/support/recording-log.ts';
import { startGateway, type Gateway, type GatewayOptions } from '../gateway.ts';
import { OpenAccess } from './open-access.ts';
import { RawClient } from './raw-client.ts';
import { TcpDialer } from './tcp-circuit.ts';

/** A record of the log, with its fields beside level and message. */
export interface LogEntry extends Readonly<Record<string, unknown>> {
  readonly level: string;
  readonly message: string;
}

export function logInto(entries: LogEntry[]): Log {
  return recordingLog(({ level, message, fields }) => void entries.push({ ...fields, level, message }));
}

export function shareOf(name: string, more: Partial<GatewayShare> = {}): GatewayShare {
  return {
    id: `id-${name}`,
    token: name,
    hosts: [`${name}.share.localhost`],
    authProviderIds: [],
    customHosts: [],
    rules: null,
    inspection: null,
    frontdoorId: 'frontdoor',
    environmentId: 'environment',
    updatedAtMs: 1,
    ...more,
  };
}

export class GatewayWorld {
  readonly gateway: Gateway;
  readonly dialer: TcpDialer;
  readonly records: LogEntry[];
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Set<RawClient>();

  constructor(gateway: Gateway, dialer: TcpDialer, records: LogEntry[]) {
    this.gateway = gateway;
    this.dialer = dialer;
    this.records = records;
  }

  static async start(options: Partial<GatewayOptions> = {}): Promise<GatewayWorld> {
    const dialer = new TcpDialer();
    const records: LogEntry[] = [];
    const gateway = await startGateway({
      plain: { host: '127.0.0.1', port: 0 },
      dialer,
      access: new OpenAccess(),
      log: logInto(records),
      ...options,
      limits: { standbyPerShare: 0, ...options.limits },
    });
    gateway.table.replaceAll([]);
    return new GatewayWorld(gateway, dialer, records);
  }

  get port(): number {
    return this.gateway.plainPort!;
  }

  /** Publishes a share without an origin. */
  publish(share: GatewayShare, port?: number): void {
    if (port !== undefined) this.dialer.ports.set(share.id, port);
    const [problem] = this.gateway.table.change([share], []);
    if (problem !== undefined) throw new Error(`${problem.id}: ${problem.field}`);
  }

  /** Publishes a share served by a node:http server. */
  async serve(name: string, handler: RequestListener, more: Partial<GatewayShare> = {}): Promise<HttpServer> {
    const server = createServer({ keepAliveTimeout: 60_000, maxHeaderSize: 131_072 }, handler);
    this.publish(shareOf(name, more), await this.#listen(server));
    return server;
  }

  /** Publishes a share served by HTTP/2 without TLS. */
  async serveHttp2(
    name: string,
    onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
    { settings, ...more }: Partial<GatewayShare> & { readonly settings?: Http2Settings } = {},
  ): Promise<Http2Server> {
    const server = createHttp2Server({ settings: settings ?? {} });
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      stream.on('error', () => {});
      onStream(stream, headers);
    });
    server.on('sessionError', () => {});
    const share = shareOf(name, { ...more, upstream: { ...more.upstream, http2: 'http' } });
    this.publish(share, await this.#listen(server));
    return server;
  }

  /** Publishes a share whose origin answers with raw bytes. */
  async serveRaw(
    name: string,
    onSocket: (socket: Socket) => void,
    more: Partial<GatewayShare> = {},
  ): Promise<Server> {
    const server = createRawServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on('error', () => {});
      onSocket(socket);
    });
    this.publish(shareOf(name, more), await this.#listen(server));
    return server;
  }

  async client(): Promise<RawClient> {
    return this.own(await RawClient.connect(this.port));
  }

  /** Closes the client at the end of the world. */
  own(client: RawClient): RawClient {
    this.#clients.add(client);
    client.socket.once('close', () => this.#clients.delete(client));
    return client;
  }

  /** Sends one request on a connection of its own and returns the whole response. */
  async ask(text: string): Promise<string> {
    const client = await this.client();
    client.send(text);
    const answer = await client.ended();
    client.close();
    return answer;
  }

  /** Returns the only log record with this error id. */
  recordOf(errorId: string): LogEntry {
    const found = this.records.filter((record) => record['errorId'] === errorId);
    if (found.length !== 1) throw new Error(`${found.length} records have the error id ${errorId}`);
    return found[0]!;
  }

  /** Waits until the condition holds, checking it after each turn of the event loop. */
  async eventually(test: () => boolean, what: string): Promise<void> {
    let isLate = false;
    const stop = afterRunning(30_000, () => (isLate = true));
    try {
      while (!test()) {
        if (isLate) throw new Error(`not in time: ${what}`);
        await new Promise<void>((resolve) => {
          setImmediate(resolve);
        });
      }
    } finally {
      stop();
    }
  }

  async close(): Promise<void> {
    await this.gateway.close();
    for (const client of this.#clients) client.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) server.close();
  }

  async #listen(server: Server): Promise<number> {
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#servers.push(server);
    const listening = once(server, 'listening');
    server.listen(0, '127.0.0.1');
    await listening;
    return (server.address() as AddressInfo).port;
  }
}

export function once(emitter: EventEmitter, event: string): Promise<unknown> {
  return within(
    event,
    new Promise<unknown>((resolve) => {
      emitter.once(event, resolve);
    }),
  );
}

/** Returns a plain GET for the share, by default with `Connection: close`. */
export function get(name: string, path = '/', lines = 'Connection: close\r\n'): string {
  return `GET ${path} HTTP/1.1\r\nHost: ${name}.share.localhost\r\n${lines}\r\n`;
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? -1);
}

export function bodyOf(answer: string): string {
  return answer.slice(answer.indexOf('\r\n\r\n') + 4);
}
