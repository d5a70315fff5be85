/** Dials a service by UDP: one connected socket for each circuit, so that only the service's datagrams come back. */
import type { Socket } from 'node:dgram';
import { lookup } from 'node:dns';
import { isIP } from 'node:net';
import { FrontdoorError, systemClock, type Clock } from '#base';
import { DatagramBudget } from './datagram-budget.ts';
import { DatagramConnection } from './datagram-connection.ts';
import { bound, openUdpSocket, sendDatagram, type UdpNetwork } from './udp-socket.ts';

const MAX_WAITING_BYTES = 64 * 1024 * 1024;

export interface UdpDial {
  readonly network: UdpNetwork;
  /** Host name or IP address. */
  readonly host: string;
  readonly port: number;
  /** Time limit for the resolution of the host name. */
  readonly timeoutMs: number;
  /** The source address of the datagrams. */
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  /** Ends the connection when no datagram came or went for this time. 0 or absent: never. */
  readonly idleTimeoutMs?: number | undefined;
  /** Aborts the dial. */
  readonly signal?: AbortSignal | undefined;
}

export class UdpDialer {
  readonly #budget = new DatagramBudget(MAX_WAITING_BYTES);
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /**
   * Resolves at once for an IP address, because UDP has no handshake. Rejects with the error of the system (such as
   * `ENOTFOUND` or `EADDRNOTAVAIL`), with `timeout` when the name is not resolved in time, or with `conflict` when
   * the dial is aborted. A service without a socket ends the connection with `ECONNREFUSED` after the first datagram.
   */
  async dial(dial: UdpDial): Promise<DatagramConnection> {
    const { network, localAddress = '', localPort = 0, port, signal } = dial;
    const address = await resolve(dial);
    if (signal?.aborted === true) throw unrouted();
    const type = isIP(address) === 6 ? 'udp6' : 'udp4';
    const socket = await bound(openUdpSocket(type, network === 'udp6'), localAddress, localPort);
    try {
      await connected(socket, address, port);
    } catch (error) {
      socket.close();
      throw error;
    }
    return this.#connectionOf(socket, dial.idleTimeoutMs ?? 0);
  }

  #connectionOf(socket: Socket, idleTimeoutMs: number): DatagramConnection {
    const { address: localAddress, port: localPort } = socket.address();
    const { address: remoteAddress, port: remotePort } = socket.remoteAddress();
    let idleTimer: NodeJS.Timeout | undefined;
    const connection = new DatagramConnection({
      addresses: { localAddress, localPort, remoteAddress, remotePort },
      budget: this.#budget,
      clock: this.#clock,
      send: (datagram, sent) => sendDatagram(socket, datagram, undefined, sent, settled),
      onEnded: () => clearTimeout(idleTimer),
      onClosed: () => socket.close(),
    });
    // The kernel notifies of a refusal once, when the next datagram is sent or one is received.
    const settled = (error: NodeJS.ErrnoException | null): void => {
      if (error?.code === 'ECONNREFUSED') connection.destroy(error);
    };
    socket.on('error', (error) => connection.destroy(error));
    socket.on('message', (datagram, from) => {
      // Others may have sent something before the socket was connected.
      if (from.port === remotePort && from.address === remoteAddress) connection.receive(datagram);
    });
    const checkLater = (delayMs: number): void => {
      idleTimer = setTimeout(() => {
        if (!connection.endIfIdle(idleTimeoutMs))
          checkLater(connection.lastActiveMs + idleTimeoutMs - this.#clock.monotonicMs());
      }, delayMs);
    };
    if (idleTimeoutMs > 0) checkLater(idleTimeoutMs);
    return connection;
  }
}

function resolve({ network, host, timeoutMs, signal }: UdpDial): Promise<string> {
  if (isIP(host) !== 0) return Promise.resolve(host);
  const { promise, resolve: settle, reject } = Promise.withResolvers<string>();
  const family = network === 'udp' ? 0 : network === 'udp4' ? 4 : 6;
  const timer = setTimeout(() => {
    const text = `the name of the service was not resolved within ${Math.round(timeoutMs)} ms`;
    reject(new FrontdoorError('timeout', 'dial-timeout', text));
  }, timeoutMs);
  const onAbort = (): void => reject(unrouted());
  signal?.addEventListener('abort', onAbort);
  lookup(host, { family }, (error, address) => {
    if (error === null) settle(address);
    else reject(error);
  });
  return promise.finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  });
}

function unrouted(): FrontdoorError {
  return new FrontdoorError('conflict', 'unrouted', 'the circuit was unrouted');
}

function connected(socket: Socket, host: string, port: number): Promise<void> {
  const { promise, resolve: settle, reject } = Promise.withResolvers<void>();
  socket.connect(port, host, (error?: Error) => {
    if (error === undefined || error === null) settle();
    else reject(error);
  });
  return promise;
}
