/** A TCP port whose connections can be half-closed and are not read until they are resumed. */
import { createServer, type Server, type Socket } from 'node:net';
import { formatHostPort, FrontdoorError, messageOf, type Log } from '#base';

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

/** Rejects with `conflict` when the port is in use, and `unavailable` when it cannot be opened. */
export async function openTcpListener(options: TcpListenerOptions): Promise<TcpListener> {
  const { host, port, fd, place, log, onConnection } = options;
  const socketOptions = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true, keepAlive: true };
  const server = createServer({ ...socketOptions, keepAliveInitialDelay: KEEP_ALIVE_MS }, onConnection);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error) => reject(listenFailure(place, formatHostPort(host, port), error)));
  server.listen(fd === undefined ? { host: host || undefined, port } : { fd }, resolve);
  await promise;
  server.removeAllListeners('error');
  server.on('error', (error) => log.error({ listener: place, err: messageOf(error) }, 'listener failed'));
  return {
    port: portOf(server),
    // Connections outlive their listener, and the callback of `close` would wait for them.
    close: () => void server.close(),
  };
}

/** Returns the error of a listen address that cannot be opened. */
export function listenFailure(place: string, where: string, cause: Error): FrontdoorError {
  return (cause as NodeJS.ErrnoException).code === 'EADDRINUSE'
    ? new FrontdoorError('conflict', 'port-taken', `${place}: ${where} is taken`, { cause })
    : new FrontdoorError(
        'unavailable',
        'cannot-listen',
        `${place}: cannot listen on ${where}: ${cause.message}`,
        { cause },
      );
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
