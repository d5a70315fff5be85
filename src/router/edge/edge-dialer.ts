/** Dials terminators with the binding `edge`: their hosts are SDKs that are connected to this router. */
import { FrontdoorError } from '#base';
import type { Channel } from '#net/channel';
import type { XgressConfig } from '../config/router-config.ts';
import { hostGone } from '../forwarder/dial-refusal.ts';
import type { EgressDialer } from '../xgress/egress-dialers.ts';
import type { EdgePeer } from './edge-peer.ts';
import type { EdgeTerminatorRegistry } from './edge-terminator-registry.ts';

/** Time limit for a host to answer a Dial, unless the listener has a `connectTimeout`. */
const MAX_HOST_DIAL_MS = 5_000;

export interface EdgeDialerOptions {
  readonly terminators: Pick<EdgeTerminatorRegistry, 'hostFor'>;
  peerOf(channel: Channel): EdgePeer | undefined;
  /** Options of the edge listener. */
  readonly config: Pick<XgressConfig, 'connectTimeoutMs'>;
}

export function edgeDialer({ terminators, peerOf, config }: EdgeDialerOptions): EgressDialer {
  const mostMs = config.connectTimeoutMs > 0 ? config.connectTimeoutMs : MAX_HOST_DIAL_MS;
  return async ({ circuitId, address, destination, controllerId, peerData, deadlineMs }) => {
    const terminator = terminators.hostFor(destination.replace(/^hosted:/, ''), controllerId);
    const host = terminator === undefined ? undefined : peerOf(terminator.channel);
    if (terminator === undefined) {
      const text = `terminator ${destination} is not hosted here`;
      throw new FrontdoorError('notFound', 'unknown-terminator', text);
    }
    if (host === undefined) throw hostGone(true);
    const timeoutMs = Math.max(1, Math.min(mostMs, Math.floor(deadlineMs - performance.now())));
    return host.dialHost(terminator, { circuitId, address, controllerId, peerData }, timeoutMs);
  };
}
