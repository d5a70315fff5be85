/**
 * `frontdoor tunnel proxy`: opens ports on this machine, and connects each TCP connection, and each source of datagrams, with a
 * service of the overlay. A port is open whether or not its service can be dialed; until it can, its connections are reset, and
 * datagrams are dropped.
 */
import { FrontdoorError, messageOf, utf8, type Log } from '#base';
import type { Circuit } from '#sdk';
import { AccessListener } from '../access/access-listener.ts';
import { UdpAccessListener } from '../access/udp-access-listener.ts';
import type { TunnelOverlay } from './tunnel-overlay.ts';

export interface ProxiedService {
  readonly service: string;
  /** 0: a free port. */
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
}

export interface TunnelProxyOptions {
  readonly overlay: Pick<TunnelOverlay, 'dial' | 'directory' | 'close' | 'name'>;
  /** Address of this machine for all ports. */
  readonly listenHost: string;
  readonly services: readonly ProxiedService[];
  /** A source of datagrams without one in either direction for this time loses its circuit. */
  readonly udpIdleTimeoutMs: number;
  readonly log: Log;
}

export interface TunnelProxy {
  /** In the order of the options, each with its open `host:port`. */
  readonly services: readonly (Pick<ProxiedService, 'service' | 'protocol'> & { readonly listen: string })[];
  /** Circuits that are open or being made. */
  readonly openCircuits: number;
  /**
   * Takes no more connections, waits up to `drainMs` for the open ones, and ends. A second call with less time shortens
   * that.
   */
  close(drainMs: number): Promise<void>;
}

/** Rejects with `port-taken` or `cannot-listen`, and closes the overlay then. */
export async function startTunnelProxy(options: TunnelProxyOptions): Promise<TunnelProxy> {
  const { overlay, services, log } = options;
  const listeners: (AccessListener | UdpAccessListener)[] = [];
  try {
    for (const one of services) listeners.push(await openListener(options, one));
  } catch (error) {
    for (const listener of listeners) listener.close('the tunnel does not start');
    await overlay.close();
    throw error;
  }
  for (const { service } of services) void warnOfUnknown(overlay, service, log);
  const cut = new AbortController();
  let closing: Promise<void> | undefined;
  const drain = async (drainMs: number): Promise<void> => {
    await Promise.all(listeners.map((listener) => listener.drain(drainMs, cut.signal)));
    for (const listener of listeners) listener.close('the tunnel stopped');
    await overlay.close();
  };
  return {
    services: listeners.map(({ address: listen }, at) => {
      const { service, protocol } = services[at]!;
      return { service, protocol, listen };
    }),
    get openCircuits() {
      return listeners.reduce((sum, { connections }) => sum + connections, 0);
    },
    close(drainMs) {
      if (drainMs <= 0) cut.abort();
      closing ??= drain(drainMs);
      return closing;
    },
  };
}

async function openListener(
  { overlay, listenHost: host, udpIdleTimeoutMs: idleTimeoutMs, log }: TunnelProxyOptions,
  { service, port, protocol }: ProxiedService,
): Promise<AccessListener | UdpAccessListener> {
  // The address that the client dialed, as OpenZiti's proxies send it.
  const appData = (): Uint8Array =>
    utf8(JSON.stringify({ dst_protocol: protocol, dst_ip: host, dst_port: String(listener.port) }));
  const dial = (name: string, timeoutMs: number): Promise<Circuit> =>
    overlay.dial(name, timeoutMs, appData());
  const common = { share: service, kind: 'service', host, port, log, dial } as const;
  const listener =
    protocol === 'udp'
      ? await UdpAccessListener.open({ ...common, place: `--service ${service}:${port}:udp`, idleTimeoutMs })
      : await AccessListener.open({
          ...common,
          option: '--service NAME:PORT, or another address with --listen',
        });
  return listener;
}

/** A policy can come later, so that this ends nothing. */
async function warnOfUnknown(
  { directory, name }: TunnelProxyOptions['overlay'],
  service: string,
  log: Log,
): Promise<void> {
  try {
    await directory.find(service, 'Dial');
  } catch (error) {
    const isUnknown = error instanceof FrontdoorError && error.code === 'service-unknown';
    const remedy = isUnknown ? `let a service policy of type Dial name the service and ${name}` : undefined;
    log.warn({ service, problem: messageOf(error), remedy }, 'the service cannot be dialed yet');
  }
}
