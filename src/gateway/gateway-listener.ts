/**
 * The gateway's two kinds of ports. Both accept on a plain server, so that bounds apply before a handshake costs
 * anything; TLS sockets are made from what was admitted. ALPN is http/1.1 only; TLS 1.2 with forward secrecy and
 * authenticated ciphers, and 1.3.
 */
import { createServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type SecureContext,
  type Server as TlsServer,
  type TLSSocket,
} from 'node:tls';
import { FrontdoorError, messageOf, type Log } from '#base';
import { TLS_CIPHERS, TLS_MIN_VERSION } from '#net';
import type { Admission } from './admission.ts';
import type { ClientFacts } from './route-decision.ts';

export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Share the port with other processes that say so too. */
  readonly reusePort?: boolean;
}

export interface TlsSettings {
  /** The certificate for a server name (as the client sent it); undefined: the default one. May throw. */
  readonly certificateFor: (serverName: string) => SecureContext | undefined;
  /** For clients that send no name, or an unknown one; without it their handshake fails. */
  readonly defaultCertificate?: { readonly key: string | Buffer; readonly cert: string | Buffer };
}

export interface ListenerOptions {
  readonly address: ListenAddress;
  readonly tls: TlsSettings | undefined;
  readonly admission: Admission;
  readonly handshakeTimeoutMs: number;
  readonly highWaterMark: number;
  readonly nowMs: () => number;
  readonly log: Log;
  readonly onConnection: (socket: Socket, facts: ClientFacts) => void;
}

export interface Listener {
  readonly port: number;
  /** Takes no new connections; the ones that exist go on. */
  stop(): void;
}

/** Rejects with `port-taken` or `cannot-listen`. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { address, admission, nowMs } = options;
  const tlsServer = options.tls === undefined ? undefined : createTlsFront(options, options.tls);
  const server = createServer(
    { allowHalfOpen: true, noDelay: true, highWaterMark: options.highWaterMark },
    (socket) => {
      const client = addressOf(socket);
      if (!admission.enter(client, nowMs())) {
        socket.resetAndDestroy();
        return;
      }
      socket.once('close', () => admission.leave(client));
      if (tlsServer === undefined) {
        options.onConnection(socket, {
          address: client,
          isSecure: false,
          serverName: undefined,
          acceptedAtMs: nowMs(),
        });
      } else tlsServer.accept(socket, nowMs());
    },
  );
  await listen(server, address);
  server.on('error', (error) => options.log.error({ cause: messageOf(error) }, 'listener failed'));
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound !== null ? bound.port : address.port,
    stop: () => {
      server.close();
    },
  };
}

interface TlsFront {
  accept(socket: Socket, acceptedAtMs: number): void;
}

function createTlsFront(options: ListenerOptions, settings: TlsSettings): TlsFront {
  const { log } = options;
  /** When a socket in its handshake was accepted, by its far address and port. */
  const accepted = new Map<string, number>();
  const tlsServer: TlsServer = createTlsServer({
    ...settings.defaultCertificate,
    ALPNProtocols: ['http/1.1'],
    minVersion: TLS_MIN_VERSION,
    maxVersion: 'TLSv1.3',
    ciphers: TLS_CIPHERS,
    honorCipherOrder: true,
    handshakeTimeout: options.handshakeTimeoutMs,
    allowHalfOpen: true,
    SNICallback: (serverName, done) => {
      let context: SecureContext | undefined;
      try {
        context = settings.certificateFor(serverName);
      } catch (error) {
        log.warn({ hop: 'gateway', cause: messageOf(error) }, 'no certificate for a server name');
      }
      done(null, context);
    },
  });
  tlsServer.on('secureConnection', (socket: TLSSocket) => {
    const name = socket.servername;
    options.onConnection(socket, {
      address: addressOf(socket),
      isSecure: true,
      serverName: typeof name === 'string' ? name : undefined,
      acceptedAtMs: accepted.get(peerOf(socket)) ?? options.nowMs(),
    });
  });
  tlsServer.on('tlsClientError', (error, socket) => {
    log.info({ hop: 'client', client: addressOf(socket), cause: messageOf(error) }, 'TLS handshake failed');
    socket.destroy();
  });
  return {
    accept: (socket, acceptedAtMs) => {
      const peer = peerOf(socket);
      accepted.set(peer, acceptedAtMs);
      socket.once('close', () => accepted.delete(peer));
      socket.on('error', () => {});
      tlsServer.emit('connection', socket);
    },
  };
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort} ${socket.localPort}`;
}

/** The client's address; IPv4 in its own form even on a dual-stack port. */
function addressOf(socket: Socket): string {
  const address = socket.remoteAddress ?? 'unknown';
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

async function listen(server: Server, address: ListenAddress): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', (error: NodeJS.ErrnoException) => {
    const where = `${address.host}:${address.port}`;
    const isTaken = error.code === 'EADDRINUSE';
    reject(
      isTaken
        ? new FrontdoorError('conflict', 'port-taken', `port ${address.port} on ${address.host} is taken`, {
            cause: error,
          })
        : new FrontdoorError('unavailable', 'cannot-listen', `cannot listen on ${where}`, { cause: error }),
    );
  });
  server.listen(
    { host: address.host, port: address.port, reusePort: address.reusePort ?? false, backlog: 1024 },
    resolve,
  );
  await promise;
  server.removeAllListeners('error');
}
