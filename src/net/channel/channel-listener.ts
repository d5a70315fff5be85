/**
 * Accepts channels over TLS, with a deadline for the hello, small limits before the peer is known, and a limit
 * for connections whose hello is pending. The caller decides whether a peer is accepted; a refusal closes only
 * that connection. `ChannelGroups` handles further connections of a channel.
 */
import type { X509Certificate } from 'node:crypto';
import type * as tls from 'node:tls';
import { keptBytes, messageOf, type Log, type LogFields } from '#base';
import {
  encodeFrame,
  FrameDecoder,
  FrameHeaders,
  HELLO_LIMITS,
  HELLO_TYPE,
  rejectHello,
  textOfBody,
  UNKNOWN_VERSION_ANSWER,
  type Frame,
} from '#wire';
import { issuersOf } from '../certificate-chain.ts';
import { QuietLog } from '../quiet-log.ts';
import type { ServerTls } from '../server-certificates.ts';
import { TlsPort, type ChannelPort } from '../tls-port.ts';
import { ChannelGroups } from './channel-groups.ts';
import { frameLimitsOf, isSplitAllowed, peerLimitsOf, type PeerLimits } from './channel-kind-table.ts';
import type { TlsIdentity } from './channel-tls.ts';
import type { Channel, ChannelPeer } from './channel.ts';
import type { HeartbeatOptions } from './heartbeat-machine.ts';
import { HelloQueue } from './hello-queue.ts';
import { fingerprintOf, leafOf } from './peer-certificate.ts';
import type { SendLimits } from './tls-driver.ts';
import type { UnfinishedFrames } from './unfinished-frames.ts';

/** The caller's decision about a hello. */
export type HelloDecision =
  | {
      readonly accept: true;
      /** Owner of the channel, for limits per identity. If absent, the certificate is the owner. */
      readonly identity?: string | undefined;
      readonly extra?: FrameHeaders | undefined;
      readonly heartbeat?: HeartbeatOptions | undefined;
    }
  /** With a reason, the peer receives it; without one, the connection is closed silently. */
  | { readonly accept: false; readonly log: string; readonly answer?: string; readonly fields?: LogFields };

/** A port of its own, or a shared one. */
export type ListenerPlace =
  | {
      /** `host` is without brackets; port 0 selects a free one. */
      readonly host: string;
      readonly port: number;
      readonly tls: TlsIdentity | ServerTls;
    }
  | { readonly port: ChannelPort };

export interface ChannelListenerParts extends SendLimits {
  /** The accepted ALPN protocols. `''` in addition to others accepts clients that offer none. */
  readonly alpn: readonly string[];
  /** The listener's own id, which is sent to peers. */
  readonly ownId: string;
  /** Whether further connections may join a channel whose first hello requested it. */
  readonly allowGroups: boolean;
  /** Deadline for the hello after the handshake (and for the handshake on a port of its own), in ms. */
  readonly helloTimeoutMs?: number | undefined;
  /** Connections that may wait while others complete their hello. */
  readonly maxQueuedConnects?: number | undefined;
  /** Concurrent connections with a pending hello. */
  readonly maxOutstandingConnects?: number | undefined;
  /** Limits per identity; by default those of the protocol. */
  readonly peerLimits?: Partial<PeerLimits> | undefined;
  /** By default those of the process. */
  readonly unfinished?: UnfinishedFrames | undefined;
  readonly log: Log;
  /** `chain` has the certificates that the peer sent after its leaf, which are not trusted by themselves. */
  authorize(
    hello: Frame,
    peer: ChannelPeer,
    certificate: X509Certificate,
    chain: readonly X509Certificate[],
  ): Promise<HelloDecision> | HelloDecision;
  onChannel(channel: Channel, hello: Frame): void;
  /** Returns true if a channel's session has this token, which replaced the one of its hello. */
  readonly hasToken?: ((channel: Channel, token: string) => boolean) | undefined;
}

export type ChannelListenerOptions = ChannelListenerParts & ListenerPlace;

const HELLO_TIMEOUT_MS = 5_000;
/** Each has a TLS connection of its own, about 60 KiB. */
const MAX_HELLOS = 512;
/** A whole site may share one address. */
const MAX_HELLOS_PER_ADDRESS = 256;
/** Hellos that the caller is deciding about. */
const MAX_JUDGED = 1_024;
/** Time limit for closed channels to send their remaining data. */
const CLOSE_MS = 500;

export class ChannelListener {
  readonly #options: ChannelListenerOptions;
  readonly #port: ChannelPort;
  readonly #ownsPort: boolean;
  readonly #groups: ChannelGroups;
  readonly #hellos: HelloQueue;
  readonly #quietLog: QuietLog;
  readonly #sockets = new Set<tls.TLSSocket>();
  readonly #release: () => void;
  #judgedCount = 0;

  private constructor(options: ChannelListenerOptions, port: ChannelPort) {
    const { alpn, log, helloTimeoutMs = HELLO_TIMEOUT_MS } = options;
    const { maxQueuedConnects = MAX_HELLOS, maxOutstandingConnects = MAX_HELLOS } = options;
    this.#options = options;
    this.#port = port;
    this.#ownsPort = 'host' in options;
    this.#quietLog = new QuietLog(log);
    const protocol = alpn[0] ?? '';
    this.#groups = new ChannelGroups({
      ownId: options.ownId,
      log,
      allowGroups: options.allowGroups,
      allowSplit: isSplitAllowed(protocol),
      limits: frameLimitsOf(protocol),
      peerLimits: { ...peerLimitsOf(protocol), ...options.peerLimits },
      unfinished: options.unfinished,
      send: options,
      onChannel: (channel, hello) => options.onChannel(channel, hello),
      hasToken: options.hasToken,
    });
    this.#hellos = new HelloQueue({
      maxQueued: maxQueuedConnects,
      maxOutstanding: maxOutstandingConnects,
      maxPerAddress: MAX_HELLOS_PER_ADDRESS,
      timeoutMs: helloTimeoutMs,
      begin: (socket) => this.#awaitHello(socket),
      giveUp: (socket, reason) => {
        this.#quietLog.warn({ peer: addressOf(socket) }, `${reason}, connection closed`);
        socket.destroy();
      },
    });
    this.#release = port.handle(alpn, (socket) => this.#onSocket(socket), {
      name: `the ${protocol} listener`,
    });
  }

  /** Rejects with `conflict` if the port, or a protocol on a shared one, is taken. */
  static async open(options: ChannelListenerOptions): Promise<ChannelListener> {
    if (!('host' in options)) return new ChannelListener(options, options.port);
    const { host, port: number, tls: identity, log, helloTimeoutMs = HELLO_TIMEOUT_MS } = options;
    const port = await TlsPort.open({
      host,
      port: number,
      tls: 'default' in identity ? identity : { default: identity, alternates: [] },
      handshakeTimeoutMs: helloTimeoutMs,
      log,
    });
    return new ChannelListener(options, port);
  }

  get port(): number {
    return this.#port.port;
  }

  get channels(): ReadonlySet<Channel> {
    return this.#groups.channels;
  }

  /**
   * Applies to new handshakes; existing connections keep their settings. On a shared port it applies to all
   * listeners.
   */
  setTls(identity: TlsIdentity): void {
    this.#port.setTls({ default: identity, alternates: [] });
  }

  async close(reason = 'shutting down'): Promise<void> {
    this.#release();
    this.#hellos.close();
    this.#groups.close(reason);
    if (this.#ownsPort) await this.#port.close();
    if (this.#sockets.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, CLOSE_MS);
    const onGone = (): void => void (this.#sockets.size === 0 && resolve());
    // Runs after the listener that removes the socket from the set.
    for (const socket of this.#sockets) socket.once('close', onGone);
    await promise;
    clearTimeout(timer);
  }

  #onSocket(socket: tls.TLSSocket): void {
    const { log } = this.#options;
    const address = addressOf(socket);
    this.#sockets.add(socket);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#hellos.done(socket);
    });
    socket.on('error', (error) =>
      log.debug({ peer: address, err: messageOf(error) }, 'channel connection failed'),
    );
    if (leafOf(socket) === undefined) {
      this.#quietLog.warn({ peer: address }, 'refused a peer without a certificate');
      socket.destroy();
      return;
    }
    this.#hellos.add(socket);
  }

  #awaitHello(socket: tls.TLSSocket): void {
    const { log } = this.#options;
    const address = addressOf(socket);
    const decoder = new FrameDecoder(HELLO_LIMITS);
    const onData = (chunk: Buffer): void => {
      const fault = decoder.push(chunk, (hello) => {
        socket.pause();
        socket.off('data', onData);
        this.#hellos.done(socket);
        void this.#onHello(socket, decoder, hello, address);
        return false;
      });
      if (fault === undefined) return;
      socket.off('data', onData);
      this.#hellos.done(socket);
      log.warn({ peer: address, fault }, 'malformed hello, connection closed');
      if (fault === 'bad-magic') socket.end(UNKNOWN_VERSION_ANSWER);
      socket.destroySoon();
    };
    socket.on('data', onData);
  }

  async #onHello(socket: tls.TLSSocket, decoder: FrameDecoder, hello: Frame, address: string): Promise<void> {
    const { log, authorize } = this.#options;
    const certificate = leafOf(socket);
    if (hello.contentType !== HELLO_TYPE || certificate === undefined) {
      const fields = { peer: address, contentType: hello.contentType };
      log.warn(fields, 'first frame was not a hello, connection closed');
      socket.destroy();
      return;
    }
    const fingerprint = fingerprintOf(certificate);
    // The headers live as long as the channel, so they must not retain the read buffer.
    const headers = new FrameHeaders(keptBytes(hello.headers.raw));
    const peer: ChannelPeer = { id: textOfBody(hello), hello: headers, fingerprint, address };
    const connection = { socket, decoder, hello: { ...hello, headers }, peer };
    if (this.#groups.join(connection)) return;
    if (this.#judgedCount >= MAX_JUDGED) {
      this.#quietLog.warn({ peer: address }, 'too many hellos to decide about, connection closed');
      socket.destroy();
      return;
    }
    this.#judgedCount += 1;
    try {
      const decision = await authorize(hello, peer, certificate, issuersOf(certificate));
      if (socket.destroyed) return;
      const identity = decision.accept ? (decision.identity ?? fingerprint) : undefined;
      const fault = identity === undefined ? undefined : this.#groups.openFault(identity);
      if (decision.accept && fault === undefined) {
        this.#groups.open(connection, decision);
        return;
      }
      const reason = decision.accept ? fault : decision.log;
      const answer = decision.accept ? fault : decision.answer;
      const fields = decision.accept ? { identity } : decision.fields;
      log.warn({ ...fields, peer: address, id: peer.id, reason }, 'channel refused');
      if (answer !== undefined) socket.end(encodeFrame(rejectHello(hello, answer)));
      else socket.destroy();
    } catch (error) {
      log.error({ peer: address, err: error }, 'hello failed');
      socket.destroy();
    } finally {
      this.#judgedCount -= 1;
    }
  }
}

function addressOf(socket: tls.TLSSocket): string {
  return `${socket.remoteAddress}:${socket.remotePort}`;
}
