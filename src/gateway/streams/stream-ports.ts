/**
 * The ports of shares that do not speak HTTP. Those within the range of the operator are open while a share has them: each change
 * of the list of shares opens and closes listeners. A port that cannot be opened is a failure of its share alone. ADR 0119.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { messageOf, type Log } from '#base';
import type { SharePortRange } from '#domain/gateway-shapes';
import { containSocket, listenOn } from '#net';
import { FAILURES } from '../answers/failure-table.ts';
import { NO_PROOF } from '../certificates/client-certificate.ts';
import { addressOf, type ClientFacts } from '../circuits/route-decision.ts';
import type { ConnectionAdmission } from '../exchange/connection-admission.ts';
import type { GatewayContext } from '../exchange/gateway-context.ts';
import type { StreamConnections } from './stream-connections.ts';

/** A port that could not be opened is tried again after this time. */
const RETRY_MS = 5_000;

export interface StreamPortPlace {
  /** '' for all interfaces. */
  readonly host: string;
  readonly range: SharePortRange;
  /** Whether other processes of the gateway open the ports, too. */
  readonly isShared: boolean;
}

export interface StreamPortsOptions {
  readonly place: StreamPortPlace;
  readonly context: GatewayContext;
  readonly connections: StreamConnections;
  readonly admission: ConnectionAdmission;
  readonly log: Log;
}

interface PortListener {
  readonly port: number;
  /** Undefined while it could not be opened. */
  server: Server | undefined;
  retryAtMs: number;
  /** The share whose owner was notified of the last problem. */
  reportedTo: string | undefined;
}

export class StreamPorts {
  readonly #options: StreamPortsOptions;
  readonly #listeners = new Map<number, PortListener>();
  #isPlanned = false;
  #isStopped = false;

  constructor(options: StreamPortsOptions) {
    this.#options = options;
    const { streams } = options.context.table;
    streams.onPorts = () => this.#plan();
    this.#plan();
  }

  /** Ports that are open. */
  get open(): number {
    let count = 0;
    for (const { server } of this.#listeners.values()) if (server?.listening === true) count += 1;
    return count;
  }

  /** Tries again what could not be opened. */
  sweep(): void {
    const { nowMs } = this.#options.context;
    for (const listener of this.#listeners.values())
      if (listener.server === undefined && nowMs >= listener.retryAtMs) this.#plan();
  }

  /** Takes no more connections. The open ones continue. */
  stop(): void {
    this.#isStopped = true;
    for (const listener of this.#listeners.values()) close(listener);
  }

  /** Changes of one turn are followed together. */
  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      if (!this.#isStopped) this.#follow();
    });
  }

  /** Opens what shares have, and closes what they have no longer. */
  #follow(): void {
    const { table, nowMs } = this.#options.context;
    const { first, last } = this.#options.place.range;
    for (const listener of this.#listeners.values()) {
      if (table.streams.hasPort(listener.port)) continue;
      close(listener);
      this.#listeners.delete(listener.port);
    }
    for (const port of table.streams.ports()) {
      if (port < first || port > last) continue;
      const listener = this.#listeners.get(port) ?? newListener(port);
      this.#listeners.set(port, listener);
      if (listener.server === undefined && nowMs >= listener.retryAtMs) void this.#open(listener);
    }
  }

  async #open(listener: PortListener): Promise<void> {
    const { context, log, place } = this.#options;
    const { port } = listener;
    const server = createServer(
      {
        allowHalfOpen: true,
        pauseOnConnect: true,
        noDelay: true,
        highWaterMark: context.limits.maxUnsentBytes,
      },
      (socket) => containSocket(socket, log, () => this.#accept(listener, socket)),
    );
    listener.server = server;
    try {
      await listenOn(server, { host: place.host, port, reusePort: place.isShared }, log);
      listener.reportedTo = undefined;
      // It may have been closed while it opened.
      if (listener.server !== server) server.close();
      else log.info({ port, share: this.#find(port)?.route.share.token }, 'port of a share is open');
    } catch (error) {
      if (listener.server !== server) return;
      listener.server = undefined;
      listener.retryAtMs = context.nowMs + RETRY_MS;
      this.#report(listener, messageOf(error));
    }
  }

  #accept(listener: PortListener, socket: Socket): void {
    const { context, connections, admission } = this.#options;
    const { nowMs } = context;
    const address = addressOf(socket);
    const host = this.#find(listener.port);
    if (host === undefined || !admission.enter(address, nowMs)) {
      socket.resetAndDestroy();
      return;
    }
    socket.once('close', () => admission.leave(address));
    connections.open(socket, factsOf(address, nowMs), host, () => this.#find(listener.port));
  }

  #find(port: number) {
    return this.#options.context.table.streams.atPort(port);
  }

  /** The owner of the share finds the failure; it is reported once for each share. */
  #report(listener: PortListener, cause: string): void {
    const { context, log } = this.#options;
    const host = this.#find(listener.port);
    const share = host?.route.share;
    if (share === undefined || listener.reportedTo === share.id) return;
    listener.reportedTo = share.id;
    log.warn(
      { hop: 'gateway', port: listener.port, share: share.token, cause },
      'the port of a share cannot be opened',
    );
    const record = context.records.openPort(factsOf('', context.nowMs), host!.host);
    record.route = host!.route;
    record.decision = FAILURES.portClosed.code;
    record.doneMs = performance.now();
    context.observer.failed(record, { ...FAILURES.portClosed, cause });
  }
}

function newListener(port: number): PortListener {
  return { port, server: undefined, retryAtMs: 0, reportedTo: undefined };
}

function close(listener: PortListener): void {
  listener.server?.close();
  listener.server = undefined;
}

function factsOf(address: string, acceptedAtMs: number): ClientFacts {
  return {
    ...NO_PROOF,
    address,
    isSecure: false,
    isTrustedProxy: false,
    acceptedAtMs,
    onlyHost: undefined,
    isMistaken: false,
  };
}
