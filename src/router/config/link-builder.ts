/** The `link` section as the router works with it. */
import { addressOf, dataChannelOf, interfaceOf, ms } from './file-values.ts';
import type { BackoffConfig, LinkConfig, LinkDialerConfig, LinkListenerConfig } from './router-config.ts';
import type { LinkFile, RouterFile } from './schema/router-file-schema.ts';
import { findInterface, parseFileAddress, parseHostPort, type NetworkInterfaces } from './text-kinds.ts';

type ListenerFile = NonNullable<LinkFile['listeners']>[number];
type DialerFile = NonNullable<LinkFile['dialers']>[number];

export function buildLink({ link }: RouterFile, interfaces: NetworkInterfaces): LinkConfig | undefined {
  if (link === undefined) return undefined;
  const { heartbeats } = link;
  return {
    listeners: (link.listeners ?? []).map((one, i) => listenerOf(one, i, interfaces)),
    dialers: (link.dialers ?? []).map((one, i) => dialerOf(one, i, interfaces)),
    heartbeat: {
      sendIntervalMs: ms(heartbeats.sendInterval),
      checkIntervalMs: ms(heartbeats.checkInterval),
      closeUnresponsiveMs: ms(heartbeats.closeUnresponsiveTimeout),
    },
    payloadQueueSize: link.payloadSenderQueueSize,
    ackQueueSize: link.ackSenderQueueSize,
  };
}

function listenerOf(said: ListenerFile, index: number, interfaces: NetworkInterfaces): LinkListenerConfig {
  const bind = addressOf(said.bind);
  const owner = interfaceOf(said.bindInterface, interfaces) ?? findInterface(bind.host, interfaces);
  return {
    path: `link.listeners[${index}]`,
    bind,
    advertise: parseFileAddress(said.advertise) ?? { type: bind.type, ...parseHostPort(said.advertise)! },
    localBinding: owner?.name ?? '',
    groups: said.groups,
    channel: dataChannelOf(said.options),
  };
}

function dialerOf(said: DialerFile, index: number, interfaces: NetworkInterfaces): LinkDialerConfig {
  return {
    path: `link.dialers[${index}]`,
    split: said.split,
    bind: interfaceOf(said.bindInterface ?? said.bind, interfaces),
    groups: said.groups,
    channel: dataChannelOf(said.options),
    healthyBackoff: backoffOf(said.healthyDialBackoff),
    unhealthyBackoff: backoffOf(said.unhealthyDialBackoff),
    maxDefaultConnections: said.maxDefaultConnections,
    maxAckConnections: said.maxAckConnections,
    startupDelayMs: ms(said.startupDelay),
  };
}

function backoffOf(said: DialerFile['healthyDialBackoff']): BackoffConfig {
  return {
    minMs: ms(said.minRetryInterval),
    maxMs: ms(said.maxRetryInterval),
    factor: said.retryBackoffFactor,
  };
}
