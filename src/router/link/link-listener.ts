/**
 * Accepts links. A dialer must have a certificate of our authority and name this router as its peer. Then a controller
 * verifies that the certificate is that of the router in the hello; frames are read only after that. A refusal closes
 * that connection only.
 */
import type { X509Certificate } from 'node:crypto';
import { FrontdoorError, type Clock, type Log } from '#base';
import { checkPeerChain, type TlsPort } from '#net';
import { ChannelError, ChannelListener, type Channel, type HelloDecision } from '#net/channel';
import { CHANNEL_HEADERS, formatAddress, RESULT_TYPE, textOfBody, type Frame } from '#wire';
import { ctrlMessages, type AdvertisedListener } from '#wire/ctrl';
import type { LinkConfig, LinkListenerConfig } from '../config/router-config.ts';
import type { Controllers } from '../ctrl/controllers.ts';
import { linkKey } from './link-dial-policy.ts';
import { heartbeatOf } from './link-dialer.ts';
import type { LiveLink } from './link-event.ts';
import { decodeLinkHello, type LinkHello } from './link-hello-codec.ts';

export interface LinkListenerOptions {
  readonly routerId: string;
  readonly config: LinkConfig;
  readonly listener: LinkListenerConfig;
  readonly port: TlsPort;
  /** PEM bundle of the authorities of peers' certificates. */
  readonly ca: () => string;
  readonly controllers: Controllers;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with a verified link whose frames wait. The callee takes over the channel and starts to read it. */
  onLink(facts: AcceptedLink, channel: Channel): void;
}

export interface AcceptedLink extends LiveLink {
  readonly protocol: string;
  readonly dialAddress: string;
}

const VERIFY_TIMEOUT_MS = 10_000;
const MAX_VERIFYING = 1_024;

export class LinkListener {
  readonly #options: LinkListenerOptions;
  #channels: ChannelListener | undefined;
  #verifying = 0;

  private constructor(options: LinkListenerOptions) {
    this.#options = options;
  }

  static async open(options: LinkListenerOptions): Promise<LinkListener> {
    const link = new LinkListener(options);
    const { config, listener, log } = options;
    link.#channels = await ChannelListener.open({
      port: options.port,
      alpn: ['ziti-link'],
      ownId: options.routerId,
      allowGroups: true,
      helloTimeoutMs: listener.channel.connectTimeoutMs,
      maxQueuedConnects: listener.channel.maxQueuedConnects,
      maxOutstandingConnects: listener.channel.maxOutstandingConnects,
      outQueueSize: listener.channel.outQueueSize,
      writeTimeoutMs: listener.channel.writeTimeoutMs,
      payloadQueueSize: config.payloadQueueSize,
      ackQueueSize: config.ackQueueSize,
      log,
      authorize: (hello, _peer, certificate, chain) => link.#authorize(hello, certificate, chain),
      onChannel: (channel, hello) => link.#onChannel(channel, hello),
    });
    return link;
  }

  /** The address that is reported to controllers. Port 0 is replaced by the actual port. */
  get advertised(): AdvertisedListener {
    const { localBinding, groups, bind } = this.#options.listener;
    return { address: this.#address, protocol: bind.type, groups, localBinding };
  }

  get #address(): string {
    const { advertise } = this.#options.listener;
    return formatAddress({ ...advertise, port: advertise.port || this.#options.port.port });
  }

  close(): Promise<void> {
    return this.#channels?.close('router is stopping') ?? Promise.resolve();
  }

  #authorize(frame: Frame, certificate: X509Certificate, chain: readonly X509Certificate[]): HelloDecision {
    const { routerId, ca, clock, controllers, config } = this.#options;
    const refuse = (log: string): HelloDecision => ({ accept: false, log });
    const hello = decodeLinkHello(frame);
    if (typeof hello === 'string') return refuse(`the hello has ${hello}`);
    if (hello.dialedRouterId !== undefined && hello.dialedRouterId !== routerId) {
      return refuse(`the link is meant for router ${hello.dialedRouterId.slice(0, 100)}`);
    }
    if (hello.routerId === routerId) return refuse('the other router goes by our own id');
    const fault = checkPeerChain(certificate, chain, ca(), clock.nowMs());
    if (fault !== undefined) return refuse(fault);
    if (controllers.best() === undefined)
      return refuse('no controller is connected that could verify the router');
    if (this.#verifying >= MAX_VERIFYING) return refuse('too many links wait to be verified');
    return { accept: true, heartbeat: heartbeatOf(config) };
  }

  #onChannel(channel: Channel, frame: Frame): void {
    const hello = decodeLinkHello(frame);
    if (typeof hello === 'string') throw new Error('a hello changed after it was verified');
    channel.pauseReading();
    void this.#verify(channel, hello);
  }

  async #verify(channel: Channel, hello: LinkHello): Promise<void> {
    const { log } = this.#options;
    const fields = { peer: channel.peer.address, routerId: hello.routerId, linkId: hello.linkId };
    this.#verifying += 1;
    try {
      const fault = await this.#ask(hello.routerId, channel.peer.fingerprint);
      if (channel.isClosed) return;
      if (fault === undefined) {
        this.#options.onLink(this.#factsOf(hello), channel);
        return;
      }
      log.warn({ ...fields, reason: fault }, 'link refused: the router could not be verified');
      channel.close('the router could not be verified');
    } catch (error) {
      log.error({ ...fields, err: error }, 'link could not be accepted');
      channel.close('internal');
    } finally {
      this.#verifying -= 1;
    }
  }

  /**
   * Returns undefined if a controller confirms that the certificate belongs to that router. Only the leaf is verified,
   * because other certificates of the chain prove nothing. If a controller disconnects in the meantime, the next one is
   * asked.
   */
  async #ask(routerId: string, fingerprint: string): Promise<string | undefined> {
    const { controllers, clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + VERIFY_TIMEOUT_MS;
    for (;;) {
      const controller = controllers.best();
      const leftMs = deadlineMs - clock.monotonicMs();
      if (controller === undefined) return 'no controller is connected';
      if (leftMs <= 0) return 'no controller answered in time';
      const request = ctrlMessages.verifyRouter.frame({ routerId, fingerprints: [fingerprint] });
      try {
        const answer = await controller.channel.request(request, leftMs);
        const isGood =
          answer.contentType === RESULT_TYPE && answer.headers.bool(CHANNEL_HEADERS.resultSuccess);
        return isGood
          ? undefined
          : `controller ${controller.id}: ${textOfBody(answer).slice(0, 200) || 'no'}`;
      } catch (error) {
        if (!(error instanceof ChannelError)) throw error;
        const isNext = error.code === 'closed' && controllers.best() !== controller;
        if (!isNext) return `controller ${controller.id}: ${error.message}`;
      }
    }
  }

  #factsOf({ linkId, routerId, binding, iteration }: LinkHello): AcceptedLink {
    const { bind, localBinding } = this.#options.listener;
    return {
      id: linkId,
      key: linkKey(binding, bind.type, routerId, localBinding),
      peerId: routerId,
      iteration,
      isDialed: false,
      protocol: bind.type,
      dialAddress: this.#address,
    };
  }
}

/** Only one listener per bind address can accept links, because the link protocol is then in use. */
export function listenerFault(error: unknown, place: string): FrontdoorError {
  const cause = error instanceof FrontdoorError ? error : undefined;
  const message = `${place}: ${error instanceof Error ? error.message : String(error)}`;
  return new FrontdoorError(cause?.kind ?? 'unavailable', cause?.code ?? 'cannot-listen', message, {
    cause: error,
  });
}
