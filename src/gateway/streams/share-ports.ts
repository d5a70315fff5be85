/**
 * The ports of shares that do not speak HTTP, of one protocol. Those within the range of the operator are open while a share has
 * them: each change of the list of shares opens and closes ports. A port that cannot be opened is a failure of its share alone.
 * ADR 0119.
 */
import { performance } from 'node:perf_hooks';
import { messageOf, type Log } from '#base';
import type { SharePortRange } from '#domain/gateway-shapes';
import { FAILURES } from '../answers/failure-table.ts';
import { NO_PROOF } from '../certificates/client-certificate.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost } from '../circuits/upstream.ts';
import type { GatewayContext } from '../exchange/gateway-context.ts';
import type { StreamProtocol } from '../shares/stream-routes.ts';

/** A port that could not be opened is tried again after this time. */
const RETRY_MS = 5_000;

export interface SharePortPlace {
  /** '' for all interfaces. */
  readonly host: string;
  readonly range: SharePortRange;
  /** Whether other processes of the gateway open the ports, too. */
  readonly isShared: boolean;
}

export interface OpenPort {
  /** Stops accepting clients. */
  close(): void;
}

export interface SharePortsOptions {
  readonly protocol: StreamProtocol;
  readonly place: SharePortPlace;
  readonly context: GatewayContext;
  /** Rejects if the port cannot be opened. */
  readonly open: (port: number) => Promise<OpenPort>;
  readonly log: Log;
}

interface Listener {
  readonly port: number;
  /** Whether it is open, or is being opened. */
  isBusy: boolean;
  opened: OpenPort | undefined;
  retryAtMs: number;
  /** The share whose owner was notified of the last problem. */
  reportedTo: string | undefined;
}

export class SharePorts {
  readonly #options: SharePortsOptions;
  readonly #listeners = new Map<number, Listener>();
  readonly #onPorts = (): void => this.#plan();
  #isPlanned = false;
  #isStopped = false;

  constructor(options: SharePortsOptions) {
    this.#options = options;
    options.context.table.streams.onPorts.add(this.#onPorts);
    this.#plan();
  }

  /** Ports that are open. */
  get open(): number {
    let count = 0;
    for (const { opened } of this.#listeners.values()) if (opened !== undefined) count += 1;
    return count;
  }

  /** Tries again what could not be opened. */
  sweep(): void {
    const { nowMs } = this.#options.context;
    for (const { isBusy, retryAtMs } of this.#listeners.values())
      if (!isBusy && nowMs >= retryAtMs) this.#plan();
  }

  /** Stops accepting clients. Open connections and flows continue. */
  stop(): void {
    this.#isStopped = true;
    this.#options.context.table.streams.onPorts.delete(this.#onPorts);
    for (const listener of this.#listeners.values()) listener.opened?.close();
    this.#listeners.clear();
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

  #follow(): void {
    const { context, place, protocol } = this.#options;
    const { table, nowMs } = context;
    for (const [port, listener] of this.#listeners) {
      if (table.streams.hasPort(protocol, port)) continue;
      listener.opened?.close();
      this.#listeners.delete(port);
    }
    for (const port of table.streams.ports(protocol)) {
      if (port < place.range.first || port > place.range.last) continue;
      const listener = this.#listeners.get(port) ?? newListener(port);
      this.#listeners.set(port, listener);
      if (!listener.isBusy && nowMs >= listener.retryAtMs) void this.#open(listener);
    }
  }

  async #open(listener: Listener): Promise<void> {
    const { context, log, open, protocol } = this.#options;
    const { port } = listener;
    listener.isBusy = true;
    try {
      const opened = await open(port);
      if (this.#listeners.get(port) !== listener) {
        // It is no longer wanted.
        opened.close();
        return;
      }
      listener.opened = opened;
      listener.reportedTo = undefined;
      log.info({ protocol, port, share: this.#find(port)?.route.share.token }, 'port of a share is open');
    } catch (error) {
      listener.isBusy = false;
      listener.retryAtMs = context.nowMs + RETRY_MS;
      if (this.#listeners.get(port) === listener) this.#report(listener, messageOf(error));
    }
  }

  #find(port: number): GatewayHost | undefined {
    const { context, protocol } = this.#options;
    return context.table.streams.atPort(protocol, port);
  }

  /** The owner of the share finds the failure; it is reported once for each share. */
  #report(listener: Listener, cause: string): void {
    const { context, log, protocol } = this.#options;
    const { port } = listener;
    const host = this.#find(port);
    if (host === undefined || listener.reportedTo === host.route.share.id) return;
    const { id, token: share } = host.route.share;
    listener.reportedTo = id;
    log.warn({ hop: 'gateway', protocol, port, share, cause }, 'the port of a share cannot be opened');
    const record = context.records.openPort(portFacts('', context.nowMs), host.host, protocol);
    record.route = host.route;
    record.decision = FAILURES.portClosed.code;
    record.doneMs = performance.now();
    context.observer.failed(record, { ...FAILURES.portClosed, cause });
  }
}

function newListener(port: number): Listener {
  return { port, isBusy: false, opened: undefined, retryAtMs: 0, reportedTo: undefined };
}

/** A client of a port, of which nothing but its address is known. */
export function portFacts(address: string, acceptedAtMs: number): ClientFacts {
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
