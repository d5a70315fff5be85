/**
 * Mode `proxy`: opens the ports of the services that the identity may dial, and closes them when a service is lost or its
 * ports change. A port that is taken while the router runs is tried again.
 */
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { messageOf, type Clock, type Log } from '#base';
import { listenUdp } from '#net/datagrams';
import { openTcpListener } from '../../xgress/tcp-listener.ts';
import type { TunnelDialer } from '../circuits/tunnel-circuits.ts';
import type { TunnelService } from '../services/tunnel-service.ts';
import type { TunnelServices } from '../services/tunnel-services.ts';
import { openProxyUdpListener, type ProxyUdpListenerOptions } from './proxy-datagrams.ts';
import { openProxyTcpListener, type ProxyListener } from './proxy-listener.ts';
import { entryTargets, proxyTargets, type ProxyTarget, type ProxyTargetsOptions } from './proxy-target.ts';

export interface ProxyPartOptions extends Pick<ProxyTargetsOptions, 'entries' | 'placeOf' | 'host'> {
  readonly config: ProxyUdpListenerOptions['config'];
  readonly services: TunnelServices;
  readonly dialer: TunnelDialer;
  readonly clock: Clock;
  readonly log: Log;
}

const RETRY_MS = 1_000;

/** A port of a service that is open, or will be. */
interface Port {
  readonly target: ProxyTarget;
  listener: ProxyListener | undefined;
  timer: NodeJS.Timeout | undefined;
  isFailing: boolean;
  isOver: boolean;
}

export class ProxyPart {
  readonly #options: ProxyPartOptions;
  /** The ports of each service by its id. */
  readonly #ports = new Map<string, Port[]>();
  #unfollow: () => void = () => {};

  private constructor(options: ProxyPartOptions) {
    this.#options = options;
  }

  /** Rejects with `conflict` or `unavailable`, with file, line and key, when a port of the file cannot be opened. */
  static async open(options: ProxyPartOptions): Promise<ProxyPart> {
    await checkPorts(options);
    const part = new ProxyPart(options);
    part.#unfollow = options.services.follow({
      gained: (service) => part.#apply(service),
      changed: (service) => part.#apply(service),
      lost: (service) => part.#setPorts(service, []),
    });
    return part;
  }

  /** Closes the ports. Circuits remain. */
  close(): void {
    this.#unfollow();
    for (const ports of this.#ports.values()) for (const port of ports) closePort(port);
    this.#ports.clear();
  }

  #apply(service: TunnelService): void {
    this.#setPorts(service, proxyTargets(service, { ...this.#options, interfaces: networkInterfaces }));
  }

  /** Keeps the ports that stay, so that their connections are not interrupted. */
  #setPorts(service: TunnelService, targets: readonly ProxyTarget[]): void {
    const before = this.#ports.get(service.id) ?? [];
    const kept = targets.map((target) => before.find((port) => isSame(port.target, target)));
    for (const port of before) if (!kept.includes(port)) closePort(port);
    const ports = targets.map((target, index) => kept[index] ?? this.#openPort(service, target));
    if (ports.length > 0) this.#ports.set(service.id, ports);
    else this.#ports.delete(service.id);
  }

  #openPort(service: TunnelService, target: ProxyTarget): Port {
    const port: Port = { target, listener: undefined, timer: undefined, isFailing: false, isOver: false };
    void this.#tryPort(service, port);
    return port;
  }

  /** Never rejects. */
  async #tryPort(service: TunnelService, port: Port): Promise<void> {
    const { services, dialer, config, clock, log } = this.#options;
    const { target } = port;
    const { id, name } = service;
    const about = { listener: target.place, service: name, protocol: target.protocol };
    try {
      const options = { target, service: () => services.get(id), dialer, log };
      const listener =
        target.protocol === 'tcp'
          ? await openProxyTcpListener(options)
          : await openProxyUdpListener({ ...options, config, clock });
      if (port.isOver) listener.close();
      else {
        port.listener = listener;
        port.isFailing = false;
        log.info({ ...about, port: listener.port }, 'listener is open');
      }
    } catch (error) {
      if (port.isOver) return;
      if (!port.isFailing)
        log.error({ ...about, err: messageOf(error) }, 'a port of a service cannot be opened');
      port.isFailing = true;
      port.timer = setTimeout(() => void this.#tryPort(service, port), RETRY_MS);
    }
  }
}

/** The services of the file's ports may not be known yet, so that a port that is taken would be noticed late. */
async function checkPorts(options: ProxyPartOptions): Promise<void> {
  for (const target of entryTargets(undefined, options)) {
    const { host, port, place, protocol } = target;
    if (protocol === 'udp') (await listenUdp('udp', host, port, place)).close();
    else {
      const onConnection = (socket: Socket): void => void socket.destroy();
      (await openTcpListener({ host, port, place, log: options.log, onConnection })).close();
    }
  }
}

function closePort(port: Port): void {
  port.isOver = true;
  clearTimeout(port.timer);
  port.listener?.close();
}

function isSame(a: ProxyTarget, b: ProxyTarget): boolean {
  return a.host === b.host && a.port === b.port && a.protocol === b.protocol;
}
