/**
 * Accepts SDKs: TLS with a client certificate, and a hello with the token of an API session that a controller has sent
 * and that belongs to the leaf certificate. Peers in the same process connect through a memory channel and pass the
 * same checks.
 */
import { timingSafeEqual, type X509Certificate } from 'node:crypto';
import type { Clock, Log } from '#base';
import { checkPeerChain, type ChannelPort } from '#net';
import {
  acceptMemoryChannel,
  ChannelListener,
  type Channel,
  type ChannelPeer,
  type HeartbeatOptions,
  type HelloDecision,
  type MemoryPeer,
} from '#net/channel';
import { HeaderWriter, headerId, ownRelease, versionHeader, type Frame, type FrameHeaders } from '#wire';
import type { EdgeListenerConfig } from '../config/router-config.ts';
import type { ApiSessionRegistry, KnownApiSession } from '../ctrl/api-session-registry.ts';
import type { EdgePeerContext } from './edge-peer-context.ts';
import { EdgePeer } from './edge-peer.ts';
import { IdentityMemory } from './identity-memory.ts';
import { isSignedToken } from './controller-tokens.ts';
import type { TokenSession } from './token-session.ts';
import type { TokenSessions } from './token-sessions.ts';
import type { RefusedHellos } from './refused-hellos.ts';

const { channel: channelHeaders, edge } = headerId;

/** Other SDKs send no heartbeats, so this limit does not apply to them. */
const EDGE_HEARTBEAT = { sendIntervalMs: 0, closeAfterMs: 8_000, onlyIfPeerBeats: true };
/** Our own agents and gateways send heartbeats every 2 s. One that freezes before the first one is noticed, too. */
const OWN_EDGE_HEARTBEAT = { ...EDGE_HEARTBEAT, onlyIfPeerBeats: false };

export interface EdgeListenerOptions {
  readonly routerId: string;
  /** The product's version, for the answer to a hello. */
  readonly release: string | undefined;
  readonly config: EdgeListenerConfig;
  readonly port: ChannelPort;
  readonly sessions: ApiSessionRegistry;
  readonly tokenSessions: TokenSessions;
  readonly context: EdgePeerContext;
  readonly refused: Pick<RefusedHellos, 'add'>;
  /** PEM bundle of the authorities of SDKs' certificates. */
  readonly ca: () => string;
  readonly clock: Clock;
  readonly log: Log;
  onOpened(identityId: string, peer: EdgePeer): void;
  onClosed(identityId: string): void;
}

const REFUSALS = {
  'no-session-token': 'the hello has no session token',
  'no-api-session': 'there is no such session',
  'api-session-of-another': 'the session belongs to another certificate',
} as const;

/** The certificates of a peer; undefined for one in this process. */
interface PeerCertificates {
  readonly leaf: X509Certificate;
  readonly chain: readonly X509Certificate[];
}

interface Refused {
  readonly accept: false;
  readonly reason: keyof typeof REFUSALS;
  readonly log: string;
}

type Judgement = Extract<HelloDecision, { accept: true }> | Refused;

function refusedFor(reason: Refused['reason'], log: string): Refused {
  return { accept: false, reason, log };
}

export function edgeHeartbeat(hello: FrameHeaders): HeartbeatOptions {
  const isOurs = ownRelease(hello.text(channelHeaders.helloVersion)) !== undefined;
  return isOurs ? OWN_EDGE_HEARTBEAT : EDGE_HEARTBEAT;
}

export class EdgeListener {
  readonly #options: EdgeListenerOptions;
  readonly #peers = new Map<Channel, EdgePeer>();
  readonly #channels = new Map<string, Channel>();
  readonly #memory = new IdentityMemory();
  /** Sessions that tokens have proven, by the hello with the token. */
  readonly #proven = new WeakMap<FrameHeaders, TokenSession>();
  #listener: ChannelListener | undefined;

  private constructor(options: EdgeListenerOptions) {
    this.#options = options;
  }

  static async open(options: EdgeListenerOptions): Promise<EdgeListener> {
    const edgeListener = new EdgeListener(options);
    const { channel } = options.config;
    edgeListener.#listener = await ChannelListener.open({
      port: options.port,
      // The C SDKs offer no ALPN protocol.
      alpn: ['ziti-edge', ''],
      ownId: options.routerId,
      allowGroups: true,
      helloTimeoutMs: channel.connectTimeoutMs,
      maxQueuedConnects: channel.maxQueuedConnects,
      maxOutstandingConnects: channel.maxOutstandingConnects,
      outQueueSize: channel.outQueueSize,
      writeTimeoutMs: channel.writeTimeoutMs,
      log: options.log,
      authorize: async (hello, peer, certificate, chain) => {
        const certificates = { leaf: certificate, chain };
        const decision = await edgeListener.#authorize(hello, peer, certificates);
        return decision.accept ? decision : edgeListener.#refuse(decision, peer, certificates);
      },
      onChannel: (accepted) => edgeListener.#onChannel(accepted),
      hasToken: (accepted, token) => edgeListener.#hasToken(accepted, token),
    });
    return edgeListener;
  }

  get port(): number {
    return this.#listener!.port;
  }

  peers(): IterableIterator<EdgePeer> {
    return this.#peers.values();
  }

  peerOf(channel: Channel): EdgePeer | undefined {
    return this.#peers.get(channel);
  }

  /** Accepts a peer in this process. */
  acceptMemory(peer: MemoryPeer): Promise<Channel> {
    return acceptMemoryChannel(peer, {
      ownId: this.#options.routerId,
      log: this.#options.log,
      authorize: (hello, from) => this.#authorize(hello, from, undefined),
      onChannel: (channel) => this.#onChannel(channel),
    });
  }

  /** Closes the channels of a session that has ended. */
  closeSession(session: KnownApiSession): void {
    for (const peer of this.#peers.values()) {
      if (peer.session.token === session.token) peer.channel.close('API session ended');
    }
  }

  async close(): Promise<void> {
    for (const peer of this.#peers.values()) peer.channel.close('router is stopping');
    await this.#listener!.close('router is stopping');
  }

  async #authorize(
    hello: Frame,
    peer: ChannelPeer,
    certificates: PeerCertificates | undefined,
  ): Promise<Judgement> {
    const token = hello.headers.text(edge.sessionToken) ?? '';
    if (token === '') return refusedFor('no-session-token', 'hello without a session token');
    const session = isSignedToken(token)
      ? await this.#prove(token, peer, certificates)
      : await this.#announced(token, peer);
    if ('reason' in session) return session;
    const extra = new HeaderWriter()
      .text(channelHeaders.helloVersion, versionHeader(process.platform, process.arch, this.#options.release))
      .bool(edge.supportsBindSuccess, true)
      .bool(edge.supportsPostureChecks, true)
      .build();
    return { accept: true, identity: session.identityId, extra, heartbeat: edgeHeartbeat(hello.headers) };
  }

  async #announced(token: string, peer: ChannelPeer): Promise<KnownApiSession | Refused> {
    const { sessions, config } = this.#options;
    const session = await sessions.waitFor(token, config.lookupApiSessionTimeoutMs);
    if (session === undefined) return refusedFor('no-api-session', 'unknown API session');
    if (session.fingerprints.includes(peer.fingerprint)) return session;
    return refusedFor('api-session-of-another', `certificate is not that of session ${session.id}`);
  }

  async #prove(
    token: string,
    peer: ChannelPeer,
    certificates: PeerCertificates | undefined,
  ): Promise<TokenSession | Refused> {
    const { tokenSessions, config } = this.#options;
    const certified = {
      address: peer.address,
      fingerprint: peer.fingerprint,
      certificate: certificates?.leaf,
      isProven: () => certificates !== undefined && this.#isProven(certificates),
    };
    const session = await tokenSessions.open(token, certified, config.lookupApiSessionTimeoutMs);
    if ('fault' in session)
      return refusedFor(session.isOfAnother ? 'api-session-of-another' : 'no-api-session', session.fault);
    this.#proven.set(peer.hello, session);
    return session;
  }

  /** True once a token has replaced the one of the channel's hello. */
  #hasToken(channel: Channel, token: string): boolean {
    const peer = this.#peers.get(channel);
    if (peer === undefined) return false;
    const [own, given] = [Buffer.from(peer.session.token), Buffer.from(token)];
    return own.length === given.length && timingSafeEqual(own, given);
  }

  #isProven({ leaf, chain }: PeerCertificates): boolean {
    const { ca, clock } = this.#options;
    return checkPeerChain(leaf, chain, ca(), clock.nowMs()) === undefined;
  }

  /**
   * Refuses a hello. The log and a controller get the reason; the peer gets it only if it has one of our certificates.
   */
  #refuse({ reason, log }: Refused, peer: ChannelPeer, certificates: PeerCertificates): HelloDecision {
    const { leaf: certificate } = certificates;
    this.#options.refused.add(certificate, peer.address, reason);
    const isProven = this.#isProven(certificates);
    // SDKs recognize this exact text and log in again.
    const generic = reason === 'no-api-session' ? 'invalid session' : 'not authorized';
    const name = /(?:^|, )URI:([^,]+)/.exec(certificate.subjectAltName ?? '')?.[1] ?? certificate.subject;
    return {
      accept: false,
      log,
      fields: isProven ? { identity: name } : { claimedIdentity: name },
      answer: isProven && reason !== 'no-api-session' ? `not authorized: ${REFUSALS[reason]}` : generic,
    };
  }

  #onChannel(channel: Channel): void {
    const { hello } = channel.peer;
    const session =
      this.#proven.get(hello) ?? this.#options.sessions.byToken(hello.text(edge.sessionToken) ?? '');
    if (session === undefined) {
      channel.close('API session ended');
      return;
    }
    const peer = new EdgePeer(channel, session, this.#options.context, this.#memory);
    this.#peers.set(channel, peer);
    this.#channels.set(channel.id, channel);
    const fields = { identity: session.identityId, peer: channel.peer.address };
    this.#options.log.info(fields, 'edge channel opened');
    this.#options.onOpened(session.identityId, peer);
    this.#replaceFormer(hello, session.identityId);
    channel.handle({
      onFrame: (frame) => peer.onFrame(frame),
      onData: (frame) => peer.onData(frame),
      onBodyPart: (part) => peer.onBodyPart(part),
      onDrain: () => peer.onDrain(),
      onClose: (reason) => {
        this.#peers.delete(channel);
        if (this.#channels.get(channel.id) === channel) this.#channels.delete(channel.id);
        peer.onClosed();
        this.#options.onClosed(session.identityId);
        this.#options.log.info({ ...fields, reason }, 'edge channel closed');
      },
    });
  }

  /**
   * The peer names the channel that this one replaces. If it has lost that, dials and circuits over it end now and not after a
   * time limit; otherwise dials do. Only a channel of the same identity is meant: its other agents do not know the id.
   */
  #replaceFormer(hello: FrameHeaders, identityId: string): void {
    const channel = this.#channels.get(hello.text(edge.formerChannel) ?? '');
    const peer = channel === undefined ? undefined : this.#peers.get(channel);
    if (peer?.session.identityId !== identityId) return;
    if (hello.bool(edge.formerChannelIsOpen)) peer.hostDials.replace();
    else peer.channel.close('its peer has replaced it');
  }
}
