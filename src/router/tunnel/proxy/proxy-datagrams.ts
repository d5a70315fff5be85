/** One UDP port of mode `proxy`: each source address becomes a circuit to the service, which ends when it is idle. */
import type { Clock } from '#base';
import { UdpFlows } from '#net/datagrams';
import type { TunnelListenerConfig } from '../../config/router-config.ts';
import { dialTarget, type ProxyListener, type ProxyListenerOptions } from './proxy-listener.ts';

export interface ProxyUdpListenerOptions extends ProxyListenerOptions {
  readonly config: Pick<TunnelListenerConfig, 'udpIdleTimeoutMs' | 'udpCheckIntervalMs'>;
  readonly clock: Clock;
}

/** Rejects with `conflict` when the port is in use, and `unavailable` when it cannot be opened. */
export async function openProxyUdpListener(options: ProxyUdpListenerOptions): Promise<ProxyListener> {
  const { target, config, clock, log } = options;
  const flows: UdpFlows = await UdpFlows.open({
    network: 'udp',
    host: target.host,
    port: target.port,
    name: target.place,
    idleTimeoutMs: config.udpIdleTimeoutMs,
    checkIntervalMs: config.udpCheckIntervalMs,
    clock,
    log,
    onFlow: (flow, first, key) => {
      flow.receive(first);
      return dialTarget(options, flow).catch(() => flows.refuse(key, flow));
    },
  });
  return { port: flows.port, close: () => void flows.close() };
}
