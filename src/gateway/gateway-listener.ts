/**
 * The gateway's two kinds of ports. Both accept on a plain server, so that limits apply before a handshake costs
 * anything; TLS sockets are made from admitted connections.
 */
import type { Socket } from 'node:net';
import type { Log } from '#base';
import { containSocket } from '#net';
import { AcceptingServers, type ListenAddress } from './accepting-servers.ts';
import type { ConnectionAdmission } from './exchange/connection-admission.ts';
import { NO_PROOF } from './certificates/client-certificate.ts';
import type { ClientFacts } from './circuits/route-decision.ts';
import { addressOf, TlsFront, type TlsSettings } from './tls-front.ts';

/** A port of the program that several parts share, which passes connections of this one before TLS. */
export interface SharedPlace {
  readonly port: number;
  /** Returns a function after which none is passed. */
  readonly follow: (take: (socket: Socket) => void) => () => void;
}

export interface ListenerOptions {
  readonly address: ListenAddress | SharedPlace;
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
  const { admission, nowMs } = options;
  const front = options.tls === undefined ? undefined : tlsFront(options, options.tls);
  const take = (socket: Socket): void => {
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
    } else containSocket(socket, options.log, () => front.accept(socket, nowMs()));
  };
  const { port, close } = await accept(options, take);
  return {
    port,
    stop: () => {
      front?.stop();
      close();
    },
  };
}

async function accept(
  { address, highWaterMark, log }: ListenerOptions,
  take: (socket: Socket) => void,
): Promise<{ readonly port: number; close(): void }> {
  if ('follow' in address) return { port: address.port, close: address.follow(take) };
  const settings = { allowHalfOpen: true, noDelay: true, highWaterMark };
  const servers = await AcceptingServers.open(address, settings, log, take);
  return { port: servers.port, close: () => servers.close() };
}

function tlsFront(
  { handshakeTimeoutMs, log, nowMs, onConnection, onHandshakeFailed }: ListenerOptions,
  settings: TlsSettings,
): TlsFront {
  return new TlsFront({
    settings,
    handshakeTimeoutMs,
    nowMs,
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
