/**
 * Passes connections on to fixed destinations, with every byte, before TLS begins: the destination makes TLS with its own
 * certificate. It is no proxy for clients, which cannot name a destination. ADR 0098.
 */
import type { Socket } from 'node:net';
import { formatHostPort, messageOf, type Log } from '#base';
import { OutwardDialer } from './outward/outward-dialer.ts';
import { QuietLog } from './quiet-log.ts';

export interface PassDestination {
  readonly host: string;
  readonly port: number;
}

export interface TlsPasserLimits {
  /** Connections at the same time. */
  readonly maxConnections: number;
  readonly maxPerAddress: number;
  readonly connectTimeoutMs: number;
}

const LIMITS: TlsPasserLimits = { maxConnections: 8_192, maxPerAddress: 1_024, connectTimeoutMs: 5_000 };
const KEEP_ALIVE_MS = 15_000;
/** What one side may be silent for after the other has ended. */
const HALF_CLOSED_MS = 60_000;

export class TlsPasser {
  readonly #limits: TlsPasserLimits;
  readonly #log: QuietLog;
  /** Destinations are near, so that proxies of the environment do not apply. */
  readonly #dialer = new OutwardDialer();
  readonly #sockets = new Set<Socket>();
  readonly #perAddress = new Map<string, number>();
  readonly #stop = new AbortController();

  constructor({ limits, log }: { readonly limits?: Partial<TlsPasserLimits>; readonly log: Log }) {
    this.#limits = { ...LIMITS, ...limits };
    this.#log = new QuietLog(log);
  }

  get count(): number {
    return this.#sockets.size;
  }

  /** Takes over the socket, which is paused and whose errors have a listener. */
  pass(socket: Socket, destination: PassDestination): void {
    const address = socket.remoteAddress ?? '';
    const { maxConnections, maxPerAddress } = this.#limits;
    const ofAddress = this.#perAddress.get(address) ?? 0;
    if (this.#stop.signal.aborted || this.count >= maxConnections || ofAddress >= maxPerAddress) {
      this.#log.warn({ client: address }, 'too many connections that are passed on, one refused');
      socket.resetAndDestroy();
      return;
    }
    this.#sockets.add(socket);
    this.#perAddress.set(address, ofAddress + 1);
    socket.once('close', () => this.#left(socket, address));
    void this.#connect(socket, destination);
  }

  /** Ends every connection. */
  close(): void {
    this.#stop.abort(new Error('the gateway stops'));
    for (const socket of this.#sockets) socket.destroy();
  }

  #left(socket: Socket, address: string): void {
    this.#sockets.delete(socket);
    const left = (this.#perAddress.get(address) ?? 1) - 1;
    if (left > 0) this.#perAddress.set(address, left);
    else this.#perAddress.delete(address);
  }

  async #connect(client: Socket, { host, port }: PassDestination): Promise<void> {
    const gone = new AbortController();
    const onClose = (): void => gone.abort(new Error('the client has gone'));
    client.once('close', onClose);
    const timeout = AbortSignal.timeout(this.#limits.connectTimeoutMs);
    const signal = AbortSignal.any([timeout, gone.signal, this.#stop.signal]);
    try {
      const server = await this.#dialer.connect({ host, port }, { signal });
      join(client, server);
    } catch (cause) {
      if (!gone.signal.aborted)
        this.#log.warn(
          { destination: formatHostPort(host, port), cause: messageOf(cause) },
          'cannot reach the destination of --pass-tls',
        );
      client.resetAndDestroy();
    } finally {
      client.off('close', onClose);
    }
  }
}

/** Each end of one direction, and each failure, is passed on, too. */
function join(client: Socket, server: Socket): void {
  if (client.destroyed) {
    server.destroy();
    return;
  }
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    // The other direction continues after the end of one.
    from.allowHalfOpen = true;
    from.setKeepAlive(true, KEEP_ALIVE_MS);
    from.on('error', () => {});
    from.once('end', () => to.setTimeout(HALF_CLOSED_MS, () => to.destroy()));
    from.once('close', () => to.destroySoon());
    from.pipe(to);
  }
}
