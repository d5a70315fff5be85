/** The value of `links` in inspections, with OpenZiti's names and JSON forms. */
import { formatGoDuration } from '#base';
import type { LinkDialerConfig } from '../config/router-config.ts';
import type { DialerRule } from './link-dial-policy.ts';
import type { LinkState, PeerView } from './link-state.ts';
import type { Link } from './link.ts';

export interface InspectedLinks {
  readonly links: readonly Link[];
  readonly peers: Iterable<PeerView>;
  readonly dialers: readonly LinkDialerConfig[];
  readonly rules: readonly DialerRule[];
  /** Returns true when the link is reported to every controller. */
  isReported(linkId: string): boolean;
}

export function inspectLinks({ links, peers, ...more }: InspectedLinks): object {
  return {
    links: links.map(inspectLink),
    destinations: [...peers].map(({ id, version, isHealthy, unhealthySinceMs, links: states }) => ({
      id,
      version,
      healthy: isHealthy,
      ...(isHealthy ? {} : { unhealthySince: new Date(unhealthySinceMs).toISOString() }),
      linkStates: [...states.values()].map((state) => inspectState(state, more)),
    })),
    errors: null,
  };
}

function inspectLink(link: Link): object {
  const connections = link.connections();
  const underlays: Record<string, number> = {};
  for (const { type } of connections) underlays[type] = (underlays[type] ?? 0) + 1;
  return {
    id: link.id,
    iteration: link.iteration,
    key: link.key,
    split: connections.some(({ type }) => type === 'ack'),
    protocol: link.protocol,
    dialAddress: link.dialAddress,
    dest: link.peerId,
    destVersion: link.peerVersion,
    dialed: link.isDialed,
    underlays,
    connections: connections.map(({ type, localAddress, remoteAddress }) => ({
      Type: type,
      Source: localAddress,
      Dest: remoteAddress,
    })),
    connStateIteration: link.stateIteration,
  };
}

function inspectState(
  state: Readonly<LinkState>,
  { dialers, rules, isReported }: Pick<InspectedLinks, 'dialers' | 'rules' | 'isReported'>,
): object {
  const { listener, established } = state;
  return {
    id: state.linkId,
    key: state.key,
    status: state.status,
    dialAttempts: state.dialAttempts,
    connectedCount: state.connectedCount,
    retryDelay: formatGoDuration(Math.round(state.retryDelayMs)),
    nextDial: new Date(state.nextDialMs).toISOString(),
    targetAddress: listener.address,
    targetGroups: listener.groups,
    targetBinding: listener.localBinding || 'default',
    dialerGroups: dialers[state.dialer]!.groups,
    dialerBinding: rules[state.dialer]!.binding || 'default',
    ctrlsNotified: established !== undefined && isReported(established.id),
    establishedLinkId: established?.id ?? '',
  };
}
