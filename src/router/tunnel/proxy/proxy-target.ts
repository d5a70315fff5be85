/** The ports of mode `proxy`: the entries of `services` in the router file, and the `proxy.v1` configs of services. */
import type { Log } from '#base';
import type { TunnelListenerConfig } from '../../config/router-config.ts';
import type { NetworkInterfaces } from '../../config/text-kinds.ts';
import { findInterface } from '../../config/text-kinds.ts';
import { proxyConfigOf } from '../services/tunnel-configs.ts';
import type { TunnelService } from '../services/tunnel-service.ts';

/** A port that this router opens for a service. */
export interface ProxyTarget {
  /** Where the port is configured, for errors and the log. */
  readonly place: string;
  readonly host: string;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
}

export interface ProxyTargetsOptions {
  /** The `services` of the listener. */
  readonly entries: TunnelListenerConfig['services'];
  /** Returns the place of a key in the router file: file, line and key. */
  placeOf(path: string): string;
  /** The address at which ports are opened unless `proxy.v1` names another. */
  readonly host: string;
  interfaces(): NetworkInterfaces;
  readonly log: Log;
}

/** Returns the ports of a service; none if the identity may not dial it. */
export function proxyTargets(service: TunnelService, options: ProxyTargetsOptions): ProxyTarget[] {
  if (!service.mayDial) return [];
  return [...entryTargets(service.name, options), ...configTargets(service, options)];
}

/** Returns the ports of the entries of `services`; with `name` only those of one service. */
export function entryTargets(
  name: string | undefined,
  { entries, placeOf, host }: Pick<ProxyTargetsOptions, 'entries' | 'placeOf' | 'host'>,
): ProxyTarget[] {
  return entries
    .filter((entry) => name === undefined || entry.name === name)
    .map(({ path, port, protocol }) => ({ place: placeOf(path), host, port, protocol }));
}

function configTargets(
  service: TunnelService,
  { host, interfaces, log }: ProxyTargetsOptions,
): ProxyTarget[] {
  const config = proxyConfigOf(service, log);
  if (config === undefined) return [];
  const { port, protocols, binding = '' } = config;
  const bound = binding === '' ? { address: host } : findInterface(binding, interfaces());
  if (bound === undefined) {
    log.error(
      { service: service.name, binding },
      'proxy.v1 names no address and no network interface of this machine',
    );
    return [];
  }
  const place = `proxy.v1 of ${service.name}`;
  return [...new Set(protocols)].map((protocol) => ({ place, host: bound.address, port, protocol }));
}
