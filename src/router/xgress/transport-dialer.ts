/**
 * Dials the services of terminators with the binding `transport`: `tcp:host:port`, `udp:host:port`, or `tls:host:port`,
 * for which the router shows its own certificate and trusts its authority beside this machine's anchors.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { FrontdoorError, type Clock } from '#base';
import { systemAnchors, type TlsIdentity } from '#net';
import { parseAddress, type OverlayAddress } from '#wire';
import type { XgressConfig } from '../config/router-config.ts';
import { dialFailure, dialTimeoutMs } from './dial-outcome.ts';
import { terminatorAddresses } from './local-addresses.ts';
import { misconfigured, type EgressDial, type EgressDialer } from './egress-dialers.ts';
import { transportUdpDialer } from './transport-udp-dialer.ts';
import type { XgressEnds } from './xgress-ends.ts';

const KEEP_ALIVE_MS = 15_000;

export interface TransportDialerOptions {
  readonly ends: XgressEnds;
  readonly config: XgressConfig;
  /** The router's certificate and key, and its authority's bundle. */
  tls(): TlsIdentity;
  readonly clock?: Clock | undefined;
}

export function transportDialer({ ends, config, tls, clock }: TransportDialerOptions): EgressDialer {
  const overUdp = transportUdpDialer({ ends, config, clock });
  return async (dial) => {
    if (dial.destination.startsWith('udp:')) return overUdp(dial);
    const destination = parseAddress(dial.destination, ['tcp', 'tls']);
    if (destination === undefined)
      throw misconfigured(
        `cannot dial "${dial.destination}": expected tcp:host:port, tls:host:port or udp:host:port`,
      );
    const socket = await connect(destination, dial, config.connectTimeoutMs, tls);
    const data = terminatorAddresses(socket);
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
  const timeoutMs = dialTimeoutMs(dial, connectTimeoutMs);
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
