/**
 * The HTTPS server of our own APIs. It requests a client certificate without verifying it (the caller does, by
 * the leaf), never resumes a TLS session (which would hide the certificate), and limits sockets, heads and
 * waiting times.
 */
import { constants } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { messageOf, type Log } from '#base';
import { TLS_CIPHERS, TLS_MIN_VERSION } from '../tls-policy.ts';

export interface ServerKeyPair {
  readonly keyPem: string;
  /** Leaf first. */
  readonly certPem: string;
}

export interface ApiServerLimits {
  /** Sockets in total; 16,384 by default. */
  readonly maxSockets?: number;
  /** Sockets per address; 1,024 by default. */
  readonly maxSocketsPerAddress?: number;
  /** For the TLS handshake and for the head of a request; 10 s by default. */
  readonly headTimeoutMs?: number;
  /** For a whole request; 30 s by default. */
  readonly requestTimeoutMs?: number;
  /** Between requests; 75 s by default. */
  readonly idleTimeoutMs?: number;
}

const MAX_HEAD_BYTES = 16_384;

export function createApiServer(
  pair: ServerKeyPair,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  log: Log,
  limits: ApiServerLimits = {},
  /** Selects requests that the server emits as `upgrade`; without it, all are plain requests. */
  takesUpgrade: (request: IncomingMessage) => boolean = () => false,
): Server {
  const headTimeoutMs = limits.headTimeoutMs ?? 10_000;
  const server = createServer(
    {
      key: pair.keyPem,
      cert: pair.certPem,
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: TLS_MIN_VERSION,
      maxVersion: 'TLSv1.3',
      ciphers: TLS_CIPHERS,
      secureOptions: constants.SSL_OP_NO_TICKET | constants.SSL_OP_NO_RENEGOTIATION,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: headTimeoutMs,
      headersTimeout: headTimeoutMs,
      requestTimeout: limits.requestTimeoutMs ?? 30_000,
      connectionsCheckingInterval: Math.min(1_000, headTimeoutMs),
      keepAliveTimeout: limits.idleTimeoutMs ?? 75_000,
      maxHeaderSize: MAX_HEAD_BYTES,
      requireHostHeader: false,
      noDelay: true,
      shouldUpgradeCallback: takesUpgrade,
    },
    handler,
  );
  server.maxConnections = limits.maxSockets ?? 16_384;
  capPerAddress(server, limits.maxSocketsPerAddress ?? 1_024, log);
  endUnfinishedHandshakes(server, log);
  return server;
}

/**
 * Covers two gaps of Node: connections whose TLS handshake takes too long, and, when the server closes,
 * connections that have not sent any HTTP.
 */
export function endUnfinishedHandshakes(server: Server, log: Log): void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', (error, socket) => {
    log.info({ address: socket.remoteAddress, error: messageOf(error) }, 'TLS handshake failed');
    socket.destroy();
  });
  const closeRequests = server.closeAllConnections.bind(server);
  server.closeAllConnections = () => {
    closeRequests();
    for (const socket of sockets) socket.destroy();
  };
}

function capPerAddress(server: Server, cap: number, log: Log): void {
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const count = (counts.get(address) ?? 0) + 1;
    if (count > cap) {
      log.warn({ address, cap }, 'too many connections from one address; closed');
      socket.destroy();
      return;
    }
    counts.set(address, count);
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1;
      if (left === 0) counts.delete(address);
      else counts.set(address, left);
    });
  });
}
