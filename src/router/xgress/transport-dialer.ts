/**
 * Dials the services of terminators with the binding `transport`: `tcp:host:port`, or `tls:host:port`, for which the
 * router shows its own certificate and trusts its authority beside this machine's anchors.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { FrontdoorError, formatHostPort, utf8 } from '#base';
import { systemAnchors, type TlsIdentity } from '#net';
import { headerId, parseAddress, type OverlayAddress } from '#wire';
import type { XgressConfig } from '../config/router-config.ts';
import { misconfigured, type EgressDial, type EgressDialer } from './egress-dialers.ts';
import type { XgressEnds } from './xgress-ends.ts';

const KEEP_ALIVE_MS = 15_000;
const { peerData } = headerId;

export interface TransportDialerOptions {
  readonly ends: XgressEnds;
  readonly config: XgressConfig;
  /** The router's certificate and key, and its authority's bundle. */
  tls(): TlsIdentity;
}

export function transportDialer({ ends, config, tls }: TransportDialerOptions): EgressDialer {
  return async (dial) => {
    const destination = parseAddress(dial.destination, ['tcp', 'tls']);
    if (destination === undefined)
      throw misconfigured(`cannot dial "${dial.destination}": expected tcp:host:port or tls:host:port`);
    const socket = await connect(destination, dial, config.connectTimeoutMs, tls);
    const data = new Map([
      [peerData.terminatorLocalAddress, addressOf(socket.localAddress, socket.localPort)],
      [peerData.terminatorRemoteAddress, addressOf(socket.remoteAddress, socket.remotePort)],
    ]);
    try {
      ends.open({
        circuitId: dial.circuitId,
        address: dial.address,
        controllerId: dial.controllerId,
        isTerminator: true,
        connection: socket,
        config,
        hopType: 'xgress/transport',
      });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return data;
  };
}

function connect(
  destination: OverlayAddress,
  dial: EgressDial,
  connectTimeoutMs: number,
  tls: () => TlsIdentity,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const routeMs = Math.max(1, dial.deadlineMs - performance.now());
  const timeoutMs = connectTimeoutMs > 0 ? Math.min(connectTimeoutMs, routeMs) : routeMs;
  const isTls = destination.type === 'tls';
  const socket = isTls ? openTls(destination, tls()) : connectTcp(socketOptions(destination));
  const fail = (error: FrontdoorError): void => {
    socket.destroy();
    settle();
    reject(error);
  };
  const timer = setTimeout(() => {
    const text = `the service did not take the connection within ${Math.round(timeoutMs)} ms`;
    fail(new FrontdoorError('timeout', 'dial-timeout', text));
  }, timeoutMs);
  const onAbort = (): void => fail(new FrontdoorError('conflict', 'unrouted', 'the circuit was unrouted'));
  const onError = (error: NodeJS.ErrnoException): void => fail(dialFailure(error));
  const settle = (): void => {
    clearTimeout(timer);
    dial.signal.removeEventListener('abort', onAbort);
    socket.off('error', onError);
    // The circuit's own end handles later errors.
    socket.on('error', () => {});
  };
  dial.signal.addEventListener('abort', onAbort);
  socket.on('error', onError);
  socket.once(isTls ? 'secureConnect' : 'connect', () => {
    settle();
    resolve(socket);
  });
  return promise;
}

function socketOptions({ host, port }: OverlayAddress): {
  host: string;
  port: number;
  allowHalfOpen: true;
  noDelay: true;
  keepAlive: true;
  keepAliveInitialDelay: number;
} {
  return {
    host,
    port,
    allowHalfOpen: true,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  };
}

function openTls(destination: OverlayAddress, identity: TlsIdentity): Socket {
  return connectTls({
    ...socketOptions(destination),
    cert: identity.cert,
    key: identity.key,
    ca: [identity.ca, ...systemAnchors()],
    minVersion: 'TLSv1.2',
    ...(isIP(destination.host) === 0 ? { servername: destination.host } : {}),
  });
}

/** Controllers send the text to the dialer, so that it contains no address. The cause does. */
function dialFailure(error: NodeJS.ErrnoException): FrontdoorError {
  const text = `cannot connect to the service: ${error.code ?? 'failed'}`;
  const cause = { cause: error };
  switch (error.code) {
    case 'ECONNREFUSED':
      return new FrontdoorError('badGateway', 'connection-refused', text, cause);
    case 'ETIMEDOUT':
      return new FrontdoorError('timeout', 'dial-timeout', text, cause);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new FrontdoorError('badGateway', 'name-not-found', text, cause);
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOBUFS':
      return new FrontdoorError('limited', 'no-sockets', text, cause);
    default:
      return new FrontdoorError('badGateway', 'dial-failed', text, cause);
  }
}

function addressOf(host: string | undefined, port: number | undefined): Uint8Array {
  return utf8(formatHostPort(host ?? '', port ?? 0));
}
