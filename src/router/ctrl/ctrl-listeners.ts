/**
 * Listens for controllers that dial the router (`ctrl.listeners`). TLS accepts any certificate, so this file verifies
 * it: it must chain to our anchors and identify a controller, by its role (SPIFFE id) or by an entry in the network's
 * list of controllers. After that, the channel works like one that the router dialed.
 */
import type { X509Certificate } from 'node:crypto';
import type { Clock, Log } from '#base';
import { checkPeerChain, type ServerTls, type TlsPorts } from '#net';
import { ChannelListener, type HelloDecision } from '#net/channel';
import { textOfBody, type Frame } from '#wire';
import type { RouterConfig } from '../config/router-config.ts';
import { ctrlHeartbeat, type ControllerSet } from './controller-set.ts';

export interface CtrlListenersOptions {
  readonly routerId: string;
  readonly config: Pick<RouterConfig, 'ctrl' | 'handshakeTimeoutMs' | 'placeOf'>;
  readonly ports: TlsPorts;
  readonly tls: () => ServerTls;
  readonly controllers: ControllerSet;
  /** Looks up an id in the endpoints file or the last pushed list. */
  readonly isMember: (id: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

export class CtrlListeners {
  readonly #options: CtrlListenersOptions;
  readonly #listeners: ChannelListener[] = [];

  private constructor(options: CtrlListenersOptions) {
    this.#options = options;
  }

  /** Rejects with a `FrontdoorError` when a port, or the protocol on it, is in use. */
  static async open(options: CtrlListenersOptions): Promise<CtrlListeners> {
    const listeners = new CtrlListeners(options);
    try {
      await listeners.#open();
    } catch (error) {
      await listeners.close();
      throw error;
    }
    return listeners;
  }

  /** The ports of the listeners in the order of the configuration. */
  get ports(): readonly number[] {
    return this.#listeners.map(({ port }) => port);
  }

  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close('router is stopping')));
  }

  async #open(): Promise<void> {
    const { config, ports, tls, routerId, controllers, log } = this.#options;
    const { handshakeTimeoutMs } = config;
    for (const { path, bind, channel } of config.ctrl.listeners) {
      const { host, port } = bind;
      const place = config.placeOf(path, 'bind');
      const listener = await ChannelListener.open({
        port: await ports.open({ host, port, place, tls: tls(), handshakeTimeoutMs }),
        alpn: ['ziti-ctrl'],
        ownId: routerId,
        allowGroups: true,
        helloTimeoutMs: channel.connectTimeoutMs,
        maxQueuedConnects: channel.maxQueuedConnects,
        maxOutstandingConnects: channel.maxOutstandingConnects,
        outQueueSize: channel.outQueueSize,
        writeTimeoutMs: channel.writeTimeoutMs,
        log,
        authorize: (hello, _peer, certificate, chain) => this.#authorize(hello, certificate, chain),
        onChannel: (accepted) => controllers.adopt(accepted),
      });
      this.#listeners.push(listener);
      log.info({ host, port: listener.port }, 'listening for controllers');
    }
  }

  #authorize(hello: Frame, certificate: X509Certificate, chain: readonly X509Certificate[]): HelloDecision {
    const { config, controllers, tls, isMember, clock } = this.#options;
    const fault = checkPeerChain(certificate, chain, tls().default.ca, clock.nowMs());
    if (fault !== undefined) return { accept: false, log: fault };
    const id = textOfBody(hello);
    if (!isController(certificate, id, isMember)) {
      return { accept: false, log: 'the certificate is not that of a controller of this network' };
    }
    if (controllers.byId(id) !== undefined) {
      return { accept: false, log: 'this controller is connected already', answer: 'connected already' };
    }
    const extra = controllers.helloHeaders(true);
    return { accept: true, extra, heartbeat: ctrlHeartbeat(config.ctrl.heartbeat) };
  }
}

function isController(certificate: X509Certificate, id: string, isMember: (id: string) => boolean): boolean {
  const names = (certificate.subjectAltName ?? '').split(', ');
  const role = names.find((name) => name.startsWith('URI:spiffe://'));
  if (role !== undefined) return role.endsWith(`/controller/${id}`) && /^[\w.-]+$/.test(id);
  const commonName = /^CN=(.+)$/m.exec(certificate.subject)?.[1];
  return commonName === id && isMember(id);
}
