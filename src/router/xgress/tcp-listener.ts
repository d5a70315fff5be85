/** A TCP port whose connections can be half-closed and are not read until they are resumed. */
import { createServer, type Socket } from 'node:net';
import type { Log } from '#base';
import { containSocket, listenOn, portOf } from '#net';

const KEEP_ALIVE_MS = 15_000;

export interface TcpListenerOptions {
  /** Empty for all addresses. */
  readonly host: string;
  readonly port: number;
  /** Descriptor of a socket that is bound to them already. */
  readonly fd?: number | undefined;
  /** What the port belongs to, for errors and the log: the key in the router file. */
  readonly place: string;
  readonly log: Log;
  onConnection(socket: Socket): void;
}

export interface TcpListener {
  readonly port: number;
  /** Accepts no more connections. Those that exist remain, so the port can have connections after this. */
  close(): void;
}

/** Rejects with `port-taken` or `cannot-listen`. */
export async function openTcpListener(options: TcpListenerOptions): Promise<TcpListener> {
  const { host, port, fd, place, log, onConnection } = options;
  const socketOptions = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true, keepAlive: true };
  const server = createServer({ ...socketOptions, keepAliveInitialDelay: KEEP_ALIVE_MS }, (socket) =>
    containSocket(socket, log, () => onConnection(socket)),
  );
  await listenOn(server, { host, port, bound: fd, place }, log);
  return {
    port: portOf(server),
    // Connections outlive their listener, and the callback of `close` would wait for them.
    close: () => void server.close(),
  };
}
