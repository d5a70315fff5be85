/** Dials the services of terminators with the binding `transport_udp`: `udp:host:port`. One payload is one datagram. */
import type { Clock } from '#base';
import { UdpDialer } from '#net/datagrams';
import { parseDatagramAddress } from '../config/text-kinds.ts';
import type { XgressConfig } from '../config/router-config.ts';
import { dialFailure, dialTimeoutMs } from '#net';
import { terminatorAddresses } from './local-addresses.ts';
import { misconfigured, type EgressDialer } from './egress-dialers.ts';
import type { XgressEnds } from './xgress-ends.ts';

export interface TransportUdpDialerOptions {
  readonly ends: XgressEnds;
  readonly config: XgressConfig;
  readonly clock?: Clock | undefined;
}

export function transportUdpDialer({ ends, config, clock }: TransportUdpDialerOptions): EgressDialer {
  const dialer = new UdpDialer(clock);
  return async (dial) => {
    const { circuitId, address, controllerId, destination, signal } = dial;
    const to = parseDatagramAddress(destination);
    if (to === undefined || to.network === 'unixgram' || to.host === '')
      throw misconfigured(`cannot dial "${destination}": expected udp:host:port`);
    const { network, host, port } = to;
    const timeoutMs = dialTimeoutMs(dial, config.connectTimeoutMs);
    const connection = await dialer
      .dial({ network, host, port, timeoutMs, signal })
      .catch((error: unknown) => {
        throw dialFailure(error as NodeJS.ErrnoException);
      });
    try {
      ends.open({
        circuitId,
        address,
        controllerId,
        isTerminator: true,
        connection,
        config,
        hopType: 'xgress/transport_udp',
        isDatagrams: true,
      });
    } catch (error) {
      connection.destroy();
      throw error;
    }
    return terminatorAddresses(connection);
  };
}
