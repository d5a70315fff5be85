/**
 * Answers the hellos of routers. While a router has a channel, another connection with its certificate is a second process or a
 * copy of its key, unless that channel no longer answers: then the router lost it, and its new connection takes the place.
 */
import type { X509Certificate } from 'node:crypto';
import { messageOf, type LeaseClock } from '#base';
import type { Channel, ChannelPeer, HeartbeatOptions, HelloDecision } from '#net/channel';
import { CHANNEL_HEADERS, HEARTBEAT_TYPE, HeaderWriter, makeFrame, versionHeader, type Frame } from '#wire';
import { ControllerCapability, encodeControllerHello, type ApiAddresses } from '#wire/ctrl';
import type { RouterRegistry } from '../mesh/connected-router.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { RefusalTrail } from '../permits/refusal-trail.ts';
import { admitRouter, type ProveLeaf, type RouterAdmission } from './router-admission.ts';

const HEARTBEAT: HeartbeatOptions = { sendIntervalMs: 5_000, closeAfterMs: 20_000 };
/** A router answers a heartbeat at once. Less than the time that it waits for the answer to its hello. */
const ANSWER_MS = 2_000;

interface RouterHelloOptions {
  readonly issuer: { readonly proveLeaf: ProveLeaf };
  readonly model: OverlayModel;
  readonly access: { readonly apiAddresses?: (() => ApiAddresses) | undefined };
  readonly listener: {
    readonly heartbeat?: HeartbeatOptions | undefined;
    readonly release?: string | undefined;
  };
}

interface RouterHelloParts {
  readonly routers: RouterRegistry;
  readonly refusals: RefusalTrail;
  /** For durations. */
  readonly leases: LeaseClock;
}

export class RouterHellos {
  readonly #options: RouterHelloOptions;
  readonly #parts: RouterHelloParts;
  /** Channels that are being asked, each once, however many connections want its place. */
  readonly #asked = new Map<Channel, Promise<void>>();

  constructor(options: RouterHelloOptions, parts: RouterHelloParts) {
    this.#options = options;
    this.#parts = parts;
  }

  decide(
    hello: Frame,
    peer: ChannelPeer,
    certificate: X509Certificate,
  ): Promise<HelloDecision> | HelloDecision {
    try {
      const verdict = this.#judge(hello, peer, certificate);
      const occupant = this.#parts.routers.get(peer.id)?.channel;
      if (verdict.isAdmitted || !verdict.isOccupied || occupant === undefined)
        return this.#answer(verdict, peer);
      return this.#ask(occupant)
        .then(() => this.#answer(this.#judge(hello, peer, certificate), peer))
        .catch(failed);
    } catch (error) {
      return failed(error);
    }
  }

  #judge(hello: Frame, { id: routerId }: ChannelPeer, certificate: X509Certificate): RouterAdmission {
    const { issuer, model } = this.#options;
    const { routers, leases } = this.#parts;
    const connectedAtMs = routers.get(routerId)?.connectedAtMs;
    const question = { hello, routerId, certificate, connectedAtMs, nowMs: leases.nowMs() };
    return admitRouter(question, (leaf) => issuer.proveLeaf(leaf), model);
  }

  #answer(verdict: RouterAdmission, { id: identity, address }: ChannelPeer): HelloDecision {
    if (!verdict.isAdmitted) {
      const { reason, leaf } = verdict;
      this.#parts.refusals.routerHello(leaf, reason, hostOf(address));
      return {
        accept: false,
        log: reason,
        fields: { identity: leaf?.id },
        answer: leaf === undefined ? 'refused' : `refused: ${reason}`,
      };
    }
    const { createTerminatorV2, singleRouterLinkSource, createCircuitV2, routerDataModel } =
      ControllerCapability;
    const extra = encodeControllerHello(
      versionHeader(process.platform, process.arch, this.#options.listener.release),
      [
        createTerminatorV2,
        singleRouterLinkSource,
        createCircuitV2,
        routerDataModel,
        ControllerCapability.supportsJwtLegacySessions,
      ],
      this.#options.access.apiAddresses?.(),
    );
    const { heartbeat = HEARTBEAT } = this.#options.listener;
    return { accept: true, identity, extra, heartbeat };
  }

  /** Closes the channel if nothing arrives on it within `ANSWER_MS`. */
  #ask(channel: Channel): Promise<void> {
    const pending = this.#asked.get(channel);
    if (pending !== undefined) return pending;
    const asked = answers(channel).then((isAlive) => {
      this.#asked.delete(channel);
      if (!isAlive) channel.close('it no longer answers, and its router has connected again');
    });
    this.#asked.set(channel, asked);
    return asked;
  }
}

/** Sends a heartbeat, whose echo proves both directions. */
async function answers(channel: Channel): Promise<boolean> {
  const { reads } = channel;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // Data alone is a sign of life, too, and no observer has it.
  const timer = setTimeout(() => resolve(channel.reads !== reads), ANSWER_MS);
  const stop = channel.observe((_frame, direction) => {
    if (direction === 'rx') resolve(true);
  });
  // The time in it is none of the channel's own heartbeats, so that the echo is no measurement.
  channel.send(makeFrame(HEARTBEAT_TYPE, { headers: new HeaderWriter().u64(CHANNEL_HEADERS.heartbeat, 0n) }));
  const isAlive = await promise;
  clearTimeout(timer);
  stop();
  return isAlive;
}

function failed(error: unknown): HelloDecision {
  return { accept: false, log: messageOf(error) };
}

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':'));
}
