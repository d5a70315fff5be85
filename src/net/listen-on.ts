/** Listens on an address, with errors that name it. */
import { BoundSocket, type Server } from 'node:net';
import { formatHostPort, FrontdoorError, messageOf, type Log } from '#base';
import { isDescriptorShortage } from './descriptor-watch.ts';

/** An address to listen on, as errors name it. */
export interface ListenPlace {
  /** Without brackets; '' for all interfaces. */
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** What the port belongs to, for errors and the log: file, line and key, or an option. */
  readonly place?: string | undefined;
  /** How another port is chosen, for the error of a taken one. */
  readonly remedy?: string | undefined;
}

export interface BindAddress extends ListenPlace {
  /** A socket that is bound to host and port already, or a descriptor of one. */
  readonly bound?: BoundSocket | number | undefined;
  /** Shares the port with other listeners of this user that set it too; false by default. */
  readonly reusePort?: boolean | undefined;
  /** Length of the kernel's accept queue; Node's by default. */
  readonly backlog?: number | undefined;
}

/** Later errors of the server are logged. Rejects with `port-taken` or `cannot-listen`. */
export async function listenOn(server: Server, address: BindAddress, log: Log): Promise<void> {
  const { host, port, bound, reusePort = false, backlog, place } = address;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (cause) => reject(listenFailure(cause, address)));
  // Node takes a bound socket as well, but its types declare it under another name.
  let where: object = { host: host || undefined, port, reusePort };
  if (bound !== undefined) where = bound instanceof BoundSocket ? { handle: bound } : { fd: bound };
  server.listen({ ...where, backlog }, resolve);
  await promise;
  server.removeAllListeners('error');
  server.on('error', (error) => {
    // The watch of descriptors reports it, once for all listeners.
    if (!isDescriptorShortage(error))
      log.error({ listener: place, err: messageOf(error) }, 'listener failed');
  });
}

/** `conflict` (`port-taken`) when another socket has the port, otherwise `unavailable` (`cannot-listen`). */
export function listenFailure(cause: unknown, { host, port, place, remedy }: ListenPlace): FrontdoorError {
  const prefix = place === undefined ? '' : `${place}: `;
  const where = formatHostPort(host, port);
  if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE') {
    const hint = remedy === undefined ? '' : `; ${remedy}`;
    return new FrontdoorError('conflict', 'port-taken', `${prefix}${where} is taken${hint}`, { cause });
  }
  const message = `${prefix}cannot listen on ${where}: ${messageOf(cause)}`;
  return new FrontdoorError('unavailable', 'cannot-listen', message, { cause });
}

/** The port of a server that listens on one; 0 for any other. */
export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
