/**
 * `frontdoor tunnel proxy`: opens ports on this machine, and connects each connection with a service of the overlay. A port is
 * open whether or not its service can be dialed; until it can, its connections are reset.
 */
import { FrontdoorError, messageOf, utf8, type Log } from '#base';
import { AccessListener } from '../access/access-listener.ts';
import type { TunnelOverlay } from './tunnel-overlay.ts';

export interface ProxiedService {
  readonly service: string;
  /** 0: a free port. */
  readonly port: number;
}

export interface TunnelProxyOptions {
  readonly overlay: Pick<TunnelOverlay, 'dial' | 'directory' | 'close' | 'name'>;
  /** Address of this machine for all ports. */
  readonly listenHost: string;
  readonly services: readonly ProxiedService[];
  readonly log: Log;
}

export interface TunnelProxy {
  /** In the order of the options, each with its open `host:port`. */
  readonly services: readonly { readonly service: string; readonly listen: string }[];
  /**
   * Takes no more connections, waits up to `drainMs` for the open ones, and ends. A second call with less time shortens
   * that.
   */
  close(drainMs: number): Promise<void>;
}

/** Rejects with `port-taken` or `cannot-listen`, and closes the overlay then. */
export async function startTunnelProxy(options: TunnelProxyOptions): Promise<TunnelProxy> {
  const { overlay, services, log } = options;
  const listeners: AccessListener[] = [];
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
    services: listeners.map(({ share: service, address: listen }) => ({ service, listen })),
    close(drainMs) {
      if (drainMs <= 0) cut.abort();
      closing ??= drain(drainMs);
      return closing;
    },
  };
}

async function openListener(
  { overlay, listenHost: host, log }: TunnelProxyOptions,
  { service, port }: ProxiedService,
): Promise<AccessListener> {
  // The address that the client dialed, as OpenZiti's proxies send it.
  const appData = (): Uint8Array =>
    utf8(JSON.stringify({ dst_protocol: 'tcp', dst_ip: host, dst_port: String(listener.port) }));
  const listener = await AccessListener.open({
    share: service,
    kind: 'service',
    option: '--service NAME:PORT, or another address with --listen',
    ...{ host, port, log },
    dial: (name, timeoutMs) => overlay.dial(name, timeoutMs, appData()),
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
