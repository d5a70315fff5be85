/**
 * The gateway's two kinds of ports. Both accept on a plain server, so that limits apply before a handshake costs
 * anything; TLS sockets are made from admitted connections.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { FrontdoorError, messageOf, type Log } from '#base';
import type { ConnectionAdmission } from './exchange/connection-admission.ts';
import { NO_PROOF } from './certificates/client-certificate.ts';
import type { ClientFacts } from './circuits/route-decision.ts';
import { addressOf, TlsFront, type TlsSettings } from './tls-front.ts';

/** Length of the kernel's accept queue. */
const BACKLOG = 1_024;
const MAX_LAST_TURNS = 4 * BACKLOG;

export interface ListenAddress {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** An open socket that is bound to host and port, used instead of a new one. */
  readonly fd?: number;
}

export interface ListenerOptions {
  readonly address: ListenAddress;
  readonly tls: TlsSettings | undefined;
  readonly admission: ConnectionAdmission;
  readonly handshakeTimeoutMs: number;
  readonly onHandshakeFailed: () => void;
  readonly highWaterMark: number;
  readonly nowMs: () => number;
  readonly log: Log;
  readonly onConnection: (socket: Socket, facts: ClientFacts) => void;
}

export interface Listener {
  readonly port: number;
  /** Stops accepting connections. Existing ones continue. */
  stop(): void;
}

/** Rejects with `port-taken` or `cannot-listen`. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { address, admission, nowMs } = options;
  const front = options.tls === undefined ? undefined : tlsFront(options, options.tls);
  let accepted = 0;
  const server = createServer(
    { allowHalfOpen: true, noDelay: true, highWaterMark: options.highWaterMark },
    (socket) => {
      accepted += 1;
      const client = addressOf(socket);
      if (!admission.enter(client, nowMs())) {
        socket.resetAndDestroy();
        return;
      }
      socket.once('close', () => admission.leave(client));
      if (front === undefined) {
        options.onConnection(socket, {
          ...NO_PROOF,
          address: client,
          isSecure: false,
          serverName: undefined,
          acceptedAtMs: nowMs(),
        });
      } else front.accept(socket, nowMs());
    },
  );
  await listen(server, address);
  server.on('error', (error) => options.log.error({ cause: messageOf(error) }, 'listener failed'));
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    stop: () => {
      front?.stop();
      closeWhenQueueIsEmpty(server, () => accepted);
    },
  };
}

/**
 * Connections in the kernel's accept queue would be reset. One is accepted per turn of the event loop, so a turn
 * without one means that the queue is empty.
 */
function closeWhenQueueIsEmpty(server: Server, accepted: () => number): void {
  let before = accepted();
  let turns = 0;
  const look = (): void => {
    turns += 1;
    if (turns > 1 && (accepted() === before || turns > MAX_LAST_TURNS)) server.close();
    else {
      before = accepted();
      setImmediate(look);
    }
  };
  setImmediate(look);
}

function tlsFront(
  { handshakeTimeoutMs, log, onConnection, onHandshakeFailed }: ListenerOptions,
  settings: TlsSettings,
): TlsFront {
  return new TlsFront({
    settings,
    handshakeTimeoutMs,
    onFailed: onHandshakeFailed,
    log,
    onSecure: (socket, acceptedAtMs, proof) => {
      const { servername } = socket;
      const serverName = typeof servername === 'string' ? servername : undefined;
      onConnection(socket, {
        ...proof,
        address: addressOf(socket),
        isSecure: true,
        serverName,
        acceptedAtMs,
      });
    },
  });
}

async function listen(server: Server, address: ListenAddress): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error: NodeJS.ErrnoException) => {
    const named = `${address.host}:${address.port}`;
    const isTaken = error.code === 'EADDRINUSE';
    reject(
      isTaken
        ? new FrontdoorError('conflict', 'port-taken', `port ${address.port} on ${address.host} is taken`, {
            cause: error,
          })
        : new FrontdoorError('unavailable', 'cannot-listen', `cannot listen on ${named}`, { cause: error }),
    );
  });
  const { host, port, fd } = address;
  // Node accepts a descriptor too, but its types declare it under another name.
  const where: object = fd === undefined ? { host, port } : { fd };
  server.listen({ ...where, backlog: BACKLOG }, resolve);
  await promise;
  server.removeAllListeners('error');
}
