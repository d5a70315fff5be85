/** Listens on an address, with errors that name it. */
import type { Server } from 'node:net';
import { FrontdoorError, messageOf, type Log } from '#base';

export interface BindAddress {
  /** Without brackets; '' for all interfaces. */
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** What the port belongs to, for errors: file, line and key. */
  readonly place?: string | undefined;
}

/** Later errors of the server are logged. Rejects with `conflict` if the port is taken, otherwise `unavailable`. */
export async function listenOn(server: Server, { host, port, place }: BindAddress, log: Log): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (cause: NodeJS.ErrnoException) => {
    const where = `${host}:${port}`;
    const prefix = place === undefined ? '' : `${place}: `;
    reject(
      cause.code === 'EADDRINUSE'
        ? new FrontdoorError('conflict', 'port-taken', `${prefix}${where} is taken`, { cause })
        : new FrontdoorError(
            'unavailable',
            'cannot-listen',
            `${prefix}cannot listen on ${where}: ${messageOf(cause)}`,
            {
              cause,
            },
          ),
    );
  });
  server.listen({ host: host || undefined, port }, resolve);
  await promise;
  server.removeAllListeners('error');
  server.on('error', (error) => log.error({ err: error }, 'listener failed'));
}

/** The port of a server that listens on one; 0 for any other. */
export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
