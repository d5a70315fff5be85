/**
 * The gateway's two kinds of ports. Both accept on a plain server, so that limits apply before a handshake costs
 * anything; TLS sockets are made from admitted connections.
 */
import type { Socket } from 'node:net';
import type { Log } from '#base';
import type { IpNetwork } from '#domain';
import { isTrustedProxy as isProxy } from '#domain/proxies';
import { containSocket, QuietLog } from '#net';
import { AcceptingServers, type ListenAddress } from './accepting-servers.ts';
import type { ConnectionAdmission } from './exchange/connection-admission.ts';
import { NO_PROOF, type ClientProof } from './certificates/client-certificate.ts';
import { addressOf, type ClientFacts, type ConnectionOrigin } from './circuits/route-decision.ts';
import { takeProxyHeader, type ProxyHeader } from './proxy-header.ts';
import { TlsFront, type NamedStreams, type TlsSettings } from './tls-front.ts';

/** A port of the program that several parts share, which passes connections of this one before TLS. */
export interface SharedPlace {
  readonly port: number;
  /** Returns a function after which none is passed. */
  readonly follow: (take: (socket: Socket) => void) => () => void;
}

export interface PortAddress extends ListenAddress {
  /** Whether each connection of a trusted proxy begins with a PROXY header; false by default. */
  readonly hasProxyHeaders?: boolean | undefined;
  /** For a port without TLS: whether it accepts HTTP/2, too, from clients that begin with it; false by default. */
  readonly speaksH2c?: boolean | undefined;
}

export interface ListenerOptions {
  readonly address: PortAddress | SharedPlace;
  readonly tls: TlsSettings | undefined;
  readonly admission: ConnectionAdmission;
  /** Undefined: no proxy is trusted. */
  readonly proxies?: readonly IpNetwork[] | undefined;
  readonly proxyHeaderTimeoutMs: number;
  readonly handshakeTimeoutMs: number;
  readonly onHandshakeFailed: () => void;
  readonly highWaterMark: number;
  readonly nowMs: () => number;
  readonly log: Log;
  /** Shares of streams with names here; undefined: there are none. */
  readonly streams?: ListenedStreams | undefined;
  readonly onConnection: (socket: Socket, facts: ClientFacts) => void;
}

/** The names of shares of streams, and what takes connections before TLS. */
export interface ListenedStreams extends Pick<NamedStreams, 'any' | 'kindOf'> {
  readonly pass: (socket: Socket, facts: ClientFacts, serverName: string) => void;
}

export interface Listener {
  readonly port: number;
  /** Stops accepting connections. Existing ones continue. */
  stop(): void;
}

/** Rejects with `port-taken` or `cannot-listen`. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { address, admission, nowMs, log, proxies } = options;
  const front = options.tls === undefined ? undefined : tlsFront(options, options.tls);
  const accept = (socket: Socket, origin: ConnectionOrigin): void => {
    if (front === undefined) options.onConnection(socket, factsOf(origin, NO_PROOF, undefined));
    else containSocket(socket, log, () => front.accept(socket, origin));
  };
  const hasProxyHeaders = !('follow' in address) && address.hasProxyHeaders === true;
  const refusals = new QuietLog(log);
  const take = (socket: Socket): void => {
    const peer = addressOf(socket);
    const isTrustedProxy = proxies !== undefined && isProxy(proxies, peer);
    const counted = isTrustedProxy ? undefined : peer;
    if (!admission.enter(counted, nowMs())) {
      socket.resetAndDestroy();
      return;
    }
    socket.once('close', () => admission.leave(counted));
    const origin = { address: peer, isSecure: false, isTrustedProxy, acceptedAtMs: nowMs() };
    if (!isTrustedProxy || !hasProxyHeaders) {
      accept(socket, origin);
      return;
    }
    takeProxyHeader(socket, {
      timeoutMs: options.proxyHeaderTimeoutMs,
      onRefused: (cause) => refusals.warn({ hop: 'client', client: peer, cause }, REFUSED),
      onHeader: (header) =>
        containSocket(socket, log, () => {
          const named = namedBy(header, origin, proxies);
          if (!countClient(admission, socket, named, nowMs())) return;
          accept(socket, named);
          if (front === undefined) socket.resume();
        }),
    });
  };
  const { port, close } = await openPort(options, take);
  return {
    port,
    stop: () => {
      front?.stop();
      close();
    },
  };
}

async function openPort(
  { address, highWaterMark, log }: ListenerOptions,
  take: (socket: Socket) => void,
): Promise<{ readonly port: number; close(): void }> {
  if ('follow' in address) return { port: address.port, close: address.follow(take) };
  const settings = { allowHalfOpen: true, noDelay: true, highWaterMark };
  const servers = await AcceptingServers.open(address, settings, log, take);
  return { port: servers.port, close: () => servers.close() };
}

const REFUSED =
  'connection of a trusted proxy refused: --proxy-protocol expects a PROXY header on each of its connections';

/** A proxy that names no client has connected for itself. Its headers name nobody, because it reads none. */
function namedBy(
  { address, isSecure }: ProxyHeader,
  origin: ConnectionOrigin,
  proxies: readonly IpNetwork[],
): ConnectionOrigin {
  const isTrustedProxy = address !== undefined && isProxy(proxies, address);
  return { address: address ?? origin.address, isSecure, isTrustedProxy, acceptedAtMs: origin.acceptedAtMs };
}

/** Counts a client that a proxy names. Returns whether it may have one more; otherwise its connection was reset. */
function countClient(
  admission: ConnectionAdmission,
  socket: Socket,
  { address, isTrustedProxy }: ConnectionOrigin,
  nowMs: number,
): boolean {
  if (isTrustedProxy) return true;
  if (!admission.enterClient(address, nowMs)) {
    socket.resetAndDestroy();
    return false;
  }
  socket.once('close', () => admission.leaveClient(address));
  return true;
}

const ENDS_AT_PROXY: ClientProof = {
  clientCertificate: undefined,
  clientCertificateProblem:
    'TLS ends at a proxy in front of the gateway, which does not forward certificates',
};

/** `serverName` is undefined on plain connections. Those of trusted proxies carry requests of many clients and hosts. */
function factsOf(
  origin: ConnectionOrigin,
  proof: ClientProof,
  serverName: string | undefined,
  isMistaken = false,
): ClientFacts {
  const { address, isSecure, isTrustedProxy, acceptedAtMs } = origin;
  const endsAtProxy = isTrustedProxy || (isSecure && serverName === undefined);
  const { clientCertificate, clientCertificateProblem } = endsAtProxy ? ENDS_AT_PROXY : proof;
  const onlyHost = isTrustedProxy ? undefined : serverName;
  return {
    clientCertificate,
    clientCertificateProblem,
    address,
    isSecure,
    isTrustedProxy,
    acceptedAtMs,
    onlyHost,
    isMistaken,
  };
}

function tlsFront(
  { handshakeTimeoutMs, log, nowMs, streams, onConnection, onHandshakeFailed }: ListenerOptions,
  settings: TlsSettings,
): TlsFront {
  return new TlsFront({
    settings,
    handshakeTimeoutMs,
    nowMs,
    onFailed: onHandshakeFailed,
    log,
    streams: streams && {
      ...streams,
      pass: (socket, origin, name) => streams.pass(socket, factsOf(origin, NO_PROOF, name), name),
    },
    onPlain: (socket, origin) => onConnection(socket, factsOf(origin, NO_PROOF, undefined, true)),
    onSecure: (socket, origin, proof) => {
      const { servername } = socket;
      onConnection(socket, factsOf(origin, proof, typeof servername === 'string' ? servername : ''));
    },
  });
}
