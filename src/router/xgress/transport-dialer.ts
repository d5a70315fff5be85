/**
 * Dials the services of terminators with the binding `transport`: `tcp:host:port`, `udp:host:port`, or `tls:host:port`,
 * for which the router shows its own certificate and trusts its authority beside this machine's anchors.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '#base';
import { SERVICE_SOCKET_OPTIONS, systemAnchors, whenEstablished, type TlsIdentity } from '#net';
import { parseAddress, type OverlayAddress } from '#wire';
import type { XgressConfig } from '../config/router-config.ts';
import { terminatorAddresses } from './local-addresses.ts';
import { misconfigured, type EgressDial, type EgressDialer } from './egress-dialers.ts';
import { transportUdpDialer } from './transport-udp-dialer.ts';
import type { XgressEnds } from './xgress-ends.ts';

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
  if (destination.type === 'tls')
    return whenEstablished(openTls(destination, tls()), 'secureConnect', dial, connectTimeoutMs);
  const { host, port } = destination;
  const socket = connectTcp({ host, port, ...SERVICE_SOCKET_OPTIONS });
  return whenEstablished(socket, 'connect', dial, connectTimeoutMs);
}

function openTls({ host, port }: OverlayAddress, identity: TlsIdentity): Socket {
  return connectTls({
    host,
    port,
    ...SERVICE_SOCKET_OPTIONS,
    cert: identity.cert,
    key: identity.key,
    ca: [identity.ca, ...systemAnchors()],
    minVersion: 'TLSv1.2',
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
}
