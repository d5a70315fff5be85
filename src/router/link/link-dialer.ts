/**
 * Dials a link as a group of connections, as a split link with two, or as a single one, depending on the peer's
 * version.
 */
import { randomUUID } from 'node:crypto';
import { FrontdoorError, type Log } from '#base';
import type { OutwardDialer } from '#net';
import { dialChannel, type Channel, type DialChannelOptions, type TlsIdentity } from '#net/channel';
import { parseAddress } from '#wire';
import type { LinkConfig, LinkDialerConfig } from '../config/router-config.ts';
import { connectionsTowards, type DialerRule } from './link-dial-policy.ts';
import type { DialOrder } from './link-event.ts';
import { encodeLinkHello } from './link-hello-codec.ts';

export interface LinkDialOptions {
  readonly routerId: string;
  readonly config: LinkConfig;
  readonly outward: OutwardDialer;
  /** This router's properties in the hello. Read for each dial. */
  readonly tls: TlsIdentity;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** If there is a single listener, a single dialer without an interface uses the listener's name in its keys. */
export function dialerRules({ dialers, listeners }: LinkConfig): DialerRule[] {
  const adopted = dialers.length === 1 && listeners.length === 1 ? listeners[0]!.localBinding : '';
  return dialers.map(({ bind, groups, healthyBackoff, unhealthyBackoff }) => ({
    groups,
    binding: bind?.name ?? adopted,
    healthyBackoff,
    unhealthyBackoff,
  }));
}

/** Rejects with a `FrontdoorError`. The channel has no handler yet, so received frames wait in it. */
export async function dialLink(order: DialOrder, options: LinkDialOptions): Promise<Channel> {
  const { config, routerId, log, signal } = options;
  const address = parseAddress(order.address);
  if (address === undefined) {
    throw new FrontdoorError(
      'invalid',
      'link-address',
      `invalid link address: ${order.address.slice(0, 200)}`,
    );
  }
  const dialer = config.dialers[order.dialer]!;
  const { channel } = dialer;
  const opened = await dialChannel({
    host: address.host,
    port: address.port,
    tls: options.tls,
    alpn: 'ziti-link',
    helloId: order.linkId,
    helloHeaders: encodeLinkHello({
      linkId: order.linkId,
      connectionId: randomUUID(),
      routerId,
      routerVersion: order.peerVersion,
      binding: dialerRules(config)[order.dialer]!.binding,
      iteration: order.iteration,
      dialedRouterId: order.peerId,
    }),
    timeoutMs: channel.connectTimeoutMs,
    outQueueSize: channel.outQueueSize,
    writeTimeoutMs: channel.writeTimeoutMs,
    ...connectionsOf(order, dialer, config),
    heartbeat: heartbeatOf(config),
    log,
    signal,
    outward: options.outward,
    localAddress: dialer.bind?.address,
  });
  if (opened.peer.id === order.peerId) return opened;
  opened.close('it is another router');
  const message = `${order.address} is router ${opened.peer.id.slice(0, 100)}, not ${order.peerId}`;
  throw new FrontdoorError('forbidden', 'link-peer', message);
}

export function heartbeatOf({ heartbeat }: LinkConfig): {
  readonly sendIntervalMs: number;
  readonly checkIntervalMs: number;
  readonly closeAfterMs: number;
} {
  const { sendIntervalMs, checkIntervalMs, closeUnresponsiveMs } = heartbeat;
  return { sendIntervalMs, checkIntervalMs, closeAfterMs: closeUnresponsiveMs };
}

/** Groups have two queues; an older link has one, `outQueueSize`. */
function connectionsOf(
  { peerVersion }: DialOrder,
  dialer: LinkDialerConfig,
  { payloadQueueSize, ackQueueSize }: LinkConfig,
): Pick<DialChannelOptions, 'connections' | 'payloadQueueSize' | 'ackQueueSize'> {
  const kind = connectionsTowards(peerVersion, dialer.split);
  if (kind !== 'group') return { connections: { kind } };
  const { split, maxDefaultConnections, maxAckConnections, startupDelayMs } = dialer;
  const types = [
    { type: 'link.default', desired: split ? maxDefaultConnections : 1, min: 1 },
    { type: 'link.ack', desired: split ? maxAckConnections : 0, min: 0 },
  ];
  return { connections: { kind, types, startupDelayMs }, payloadQueueSize, ackQueueSize };
}
