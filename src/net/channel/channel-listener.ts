/**
 * Accepts channels over TLS: a deadline for the hello, hello limits before anything is known of the peer, a bound on
 * those that owe theirs. Whether the peer may come in is the caller's decision; a refusal closes that connection
 * alone. Further connections of a channel are the business of `ChannelGroups`.
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
import { TlsPort } from '../tls-port.ts';
import { ChannelGroups } from './channel-groups.ts';
import { frameLimitsOf, isSplitAllowed, peerLimitsOf, type PeerLimits } from './channel-kind-table.ts';
import type { TlsIdentity } from './channel-tls.ts';
import type { Channel, ChannelPeer } from './channel.ts';
import type { HeartbeatOptions } from './heartbeat-machine.ts';
import { HelloQueue } from './hello-queue.ts';
import { fingerprintOf, leafOf } from './peer-certificate.ts';
import type { SendLimits } from './tls-driver.ts';
import type { UnfinishedFrames } from './unfinished-frames.ts';

/** What a caller decides about a hello. */
export type HelloDecision =
  | {
      readonly accept: true;
      /** Owner of the channel, for the limits of one identity; absent: the certificate is the owner. */
      readonly identity?: string;
      readonly extra?: FrameHeaders;
      readonly heartbeat?: HeartbeatOptions;
    }
  /** With a reason the peer is told; without one the connection just closes. */
  | { readonly accept: false; readonly log: string; readonly tell?: string; readonly fields?: LogFields };

/** A port of its own, or one that others share. */
export type ListenerPlace =
  | {
      /** `host` without brackets; port 0: any. */
      readonly host: string;
      readonly port: number;
      readonly tls: TlsIdentity | ServerTls;
    }
  | { readonly port: TlsPort };

export interface ChannelListenerParts extends SendLimits {
  /** The protocols taken by ALPN; `''` beside others takes clients that offer none. */
  readonly alpn: readonly string[];
  /** Own id, told to peers. */
  readonly ownId: string;
  /** Takes further connections into a channel whose first hello asked for it. */
  readonly allowGroups: boolean;
  /** For the hello once the handshake is done (and for the handshake, on a port of its own), in ms. */
  readonly helloTimeoutMs?: number | undefined;
  /** Connections that may wait until others have said their hello. */
  readonly maxQueuedConnects?: number | undefined;
  /** Connections that owe their hello, at once. */
  readonly maxOutstandingConnects?: number | undefined;
  /** What one identity may have here; absent: as the protocol is used. */
  readonly peerLimits?: Partial<PeerLimits> | undefined;
  /** Default: those of the process. */
  readonly unfinished?: UnfinishedFrames | undefined;
  readonly log: Log;
  /** `chain`: what the peer showed behind its certificate; not to be trusted by itself. */
  authorize(
    hello: Frame,
    peer: ChannelPeer,
    certificate: X509Certificate,
    chain: readonly X509Certificate[],
  ): Promise<HelloDecision> | HelloDecision;
  onChannel(channel: Channel, hello: Frame): void;
}

export type ChannelListenerOptions = ChannelListenerParts & ListenerPlace;

const HELLO_TIMEOUT_MS = 5_000;
/** Each has a TLS connection of its own, some 60 KiB. */
const MAX_HELLOS = 512;
/** A whole site may come from behind one address. */
const MAX_HELLOS_PER_ADDRESS = 256;
/** Hellos that a caller is still judging. */
const MAX_JUDGED = 1_024;
/** How long closed channels may take to send what they still have. */
const CLOSE_MS = 500;

export class ChannelListener {
  readonly #options: ChannelListenerOptions;
  readonly #port: TlsPort;
  readonly #ownsPort: boolean;
  readonly #groups: ChannelGroups;
  readonly #hellos: HelloQueue;
  readonly #quietLog: QuietLog;
  readonly #sockets = new Set<tls.TLSSocket>();
  readonly #release: () => void;
  #judgedCount = 0;

  private constructor(options: ChannelListenerOptions, port: TlsPort) {
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

  /** Rejects with `conflict` when the port, or a protocol on a shared one, is taken. */
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

  /** New handshakes use it; connections that stand keep theirs. On a shared port: everybody's. */
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
    // Behind the listener that takes the socket out of the set.
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
      this.#quietLog.warn({ peer: address }, 'peer without a certificate refused');
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
    // It stays as long as the channel does; the read that brought it need not.
    const headers = new FrameHeaders(keptBytes(hello.headers.raw));
    const peer: ChannelPeer = { id: textOfBody(hello), hello: headers, fingerprint, address };
    const connection = { socket, decoder, hello: { ...hello, headers }, peer };
    if (this.#groups.join(connection)) return;
    if (this.#judgedCount >= MAX_JUDGED) {
      this.#quietLog.warn({ peer: address }, 'too many hellos to judge, connection closed');
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
      const tell = decision.accept ? fault : decision.tell;
      const fields = decision.accept ? { identity } : decision.fields;
      log.warn({ ...fields, peer: address, id: peer.id, reason }, 'channel refused');
      if (tell !== undefined) socket.end(encodeFrame(rejectHello(hello, tell)));
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
