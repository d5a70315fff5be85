/**
 * Dials the services of terminators with the binding `transport`: `tcp:host:port`, `udp:host:port`, or `tls:host:port`,
 * for which the router shows its own certificate and trusts its authority beside this machine's anchors. With the binding
 * `edge_transport` it encrypts the circuit for a dialer that sends a key, and dials no `udp:`.
 */
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '#base';
import { SERVICE_SOCKET_OPTIONS, systemAnchors, whenEstablished } from '#net';
import type { TlsIdentity } from '#net/channel';
import { headerId, parseAddress, type OverlayAddress } from '#wire';
import type { XgressConfig } from '../config/router-config.ts';
import { terminatorAddresses } from './local-addresses.ts';
import { misconfigured, type EgressDial, type EgressDialer } from './egress-dialers.ts';
import { encryptFor, type CircuitSealing } from './host-encryption.ts';
import { transportUdpDialer } from './transport-udp-dialer.ts';
import type { XgressEnds } from './xgress-ends.ts';

export interface TransportDialerOptions {
  readonly ends: XgressEnds;
  readonly config: XgressConfig;
  /** The router's certificate and key, and its authority's bundle. */
  tls(): TlsIdentity;
  readonly clock?: Clock | undefined;
}

const { publicKey } = headerId.peerData;
/** For dialers of the edge: sealed from there to this router, if the dialer sends a key. */
export const EDGE_TRANSPORT = 'edge_transport';

export function edgeTransportDialer(options: TransportDialerOptions): EgressDialer {
  return (dial) => {
    const dialerKey = dial.peerData.get(publicKey);
    const sealing = dialerKey === undefined ? undefined : encryptFor(dialerKey);
    return dialStream(dial, options, {
      hopType: 'xgress/edge_transport',
      types: 'tcp:host:port or tls:host:port',
      sealing,
    });
  };
}

export function transportDialer(options: TransportDialerOptions): EgressDialer {
  const overUdp = transportUdpDialer(options);
  const stream = {
    hopType: 'xgress/transport',
    types: 'tcp:host:port, tls:host:port or udp:host:port',
    sealing: undefined,
  };
  return (dial) => (dial.destination.startsWith('udp:') ? overUdp(dial) : dialStream(dial, options, stream));
}

interface Stream {
  readonly hopType: string;
  /** For the refusal of others. */
  readonly types: string;
  readonly sealing: CircuitSealing | undefined;
}

async function dialStream(
  dial: EgressDial,
  { ends, config, tls }: TransportDialerOptions,
  { hopType, types, sealing }: Stream,
): Promise<ReadonlyMap<number, Uint8Array>> {
  const destination = parseAddress(dial.destination, ['tcp', 'tls']);
  if (destination === undefined) throw misconfigured(`cannot dial "${dial.destination}": expected ${types}`);
  const socket = await connect(destination, dial, config.connectTimeoutMs, tls);
  const data = terminatorAddresses(socket);
  if (sealing !== undefined) data.set(publicKey, sealing.ownKey);
  try {
    ends.open({
      circuitId: dial.circuitId,
      address: dial.address,
      controllerId: dial.controllerId,
      isTerminator: true,
      connection: socket,
      encryption: sealing?.encryption,
      config,
      hopType,
    });
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return data;
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
