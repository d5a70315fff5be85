/**
 * Accepts channels over TLS: handshake and hello within one deadline, hello limits before anything is known of the
 * peer, groups of connections (OpenZiti's underlays) that must show the group's secret and the first one's leaf
 * certificate. Whether the peer may come in is the caller's decision; a refusal closes that connection alone.
 */
import { randomBytes, timingSafeEqual, type X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import * as tls from 'node:tls';
import { hexOf, messageOf, type Log } from '#base';
import {
  acceptHello,
  CHANNEL_HEADERS,
  encodeFrame,
  FrameDecoder,
  HELLO_LIMITS,
  HELLO_TYPE,
  rejectHello,
  textOfBody,
  UNKNOWN_VERSION_ANSWER,
  type Frame,
  type FrameHeaders,
} from '#wire';
import { Channel, type ChannelPeer } from './channel.ts';
import type { HeartbeatOptions } from './channel-heartbeat.ts';
import { fingerprintOf, leafOf } from './peer-certificate.ts';
import { TlsDriver } from './tls-driver.ts';
import { channelServerTls, type TlsIdentity } from './channel-tls.ts';

/** What a caller decides about a hello. */
export type HelloDecision =
  | { readonly accept: true; readonly extra?: FrameHeaders; readonly heartbeat?: HeartbeatOptions }
  /** With a reason the peer is told; without one the connection just closes. */
  | { readonly accept: false; readonly log: string; readonly tell?: string };

export interface ChannelListenerOptions {
  /** `host` without brackets; port 0: any. */
  readonly host: string;
  readonly port: number;
  readonly tls: TlsIdentity;
  /** The protocol offered by ALPN; `''` beside it also takes clients that offer none. */
  readonly alpn: readonly string[];
  /** Own id, told to peers. */
  readonly ownId: string;
  /** Underlay type that carries control frames only, e.g. `edge.control`. */
  readonly controlType?: string;
  /** Takes further connections into a channel whose first hello asked for it. */
  readonly allowGroups: boolean;
  /** Handshake and hello together, in ms. */
  readonly helloTimeoutMs?: number;
  readonly maxPending?: number;
  readonly log: Log;
  authorize(
    hello: Frame,
    peer: ChannelPeer,
    certificate: X509Certificate,
  ): Promise<HelloDecision> | HelloDecision;
  onChannel(channel: Channel, hello: Frame): void;
}

interface Group {
  readonly channel: Channel;
  readonly driver: TlsDriver;
  readonly secret: Uint8Array;
  readonly fingerprint: string;
  readonly hello: FrameHeaders;
}

/** Header of an edge hello that joins must repeat: the API session token. */
const SESSION_TOKEN = 1002;

export class ChannelListener {
  readonly #options: ChannelListenerOptions;
  readonly #server: tls.Server;
  readonly #groups = new Map<string, Group>();
  readonly #sockets = new Set<Socket>();
  readonly #channels = new Set<Channel>();
  #pending = 0;

  private constructor(options: ChannelListenerOptions) {
    this.#options = options;
    const { helloTimeoutMs = 5_000 } = options;
    this.#server = tls.createServer({
      ...channelServerTls(options.tls, options.alpn),
      handshakeTimeout: helloTimeoutMs,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 15_000,
    });
    this.#server.on('tlsClientError', (error, socket) => {
      options.log.info({ peer: socket.remoteAddress, err: messageOf(error) }, 'TLS handshake failed');
      // After a handshake that takes too long, node leaves the connection open.
      socket.destroy();
    });
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('secureConnection', (socket) => this.#onSocket(socket));
  }

  static async open(options: ChannelListenerOptions): Promise<ChannelListener> {
    const listener = new ChannelListener(options);
    await new Promise<void>((resolve, reject) => {
      listener.#server.once('error', reject);
      listener.#server.listen({ host: options.host || undefined, port: options.port }, () => {
        listener.#server.off('error', reject);
        listener.#server.on('error', (error) => options.log.error({ err: error }, 'channel listener failed'));
        resolve();
      });
    });
    return listener;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  get channels(): ReadonlySet<Channel> {
    return this.#channels;
  }

  /** New handshakes use it; connections that stand keep theirs. */
  setTls(identity: TlsIdentity): void {
    this.#server.setSecureContext(channelServerTls(identity, this.#options.alpn));
  }

  async close(reason = 'shutting down'): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const channel of this.#channels) channel.close(reason);
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, 500);
    await closed;
    clearTimeout(timer);
  }

  #onSocket(socket: tls.TLSSocket): void {
    const { log, helloTimeoutMs = 5_000, maxPending = 4_096 } = this.#options;
    const address = `${socket.remoteAddress}:${socket.remotePort}`;
    socket.on('error', (error) =>
      log.debug({ peer: address, err: messageOf(error) }, 'channel connection failed'),
    );
    const certificate = leafOf(socket);
    if (certificate === undefined || this.#pending >= maxPending) {
      log.warn(
        { peer: address },
        certificate ? 'too many unfinished hellos' : 'peer without a certificate refused',
      );
      socket.destroy();
      return;
    }
    this.#pending += 1;
    const deadline = setTimeout(() => {
      log.warn({ peer: address }, 'no hello in time, connection closed');
      socket.destroy();
    }, helloTimeoutMs);
    const decoder = new FrameDecoder(HELLO_LIMITS);
    let isDone = false;
    const done = (): void => {
      if (isDone) return;
      isDone = true;
      this.#pending -= 1;
      clearTimeout(deadline);
      socket.off('data', onData);
      socket.off('close', done);
    };
    const onData = (chunk: Buffer): void => {
      const fault = decoder.push(chunk, (hello) => {
        socket.pause();
        done();
        void this.#onHello(socket, decoder, hello, certificate, address);
        return false;
      });
      if (fault === undefined) return;
      log.warn({ peer: address, fault }, 'malformed hello, connection closed');
      if (fault === 'bad-magic') socket.end(UNKNOWN_VERSION_ANSWER);
      socket.destroySoon();
      done();
    };
    socket.on('data', onData);
    socket.on('close', done);
  }

  async #onHello(
    socket: tls.TLSSocket,
    decoder: FrameDecoder,
    hello: Frame,
    certificate: X509Certificate,
    address: string,
  ): Promise<void> {
    const { log } = this.#options;
    const peer: ChannelPeer = {
      id: textOfBody(hello),
      hello: hello.headers,
      fingerprint: fingerprintOf(certificate),
      address,
    };
    try {
      if (hello.contentType !== HELLO_TYPE) {
        log.warn(
          { peer: address, contentType: hello.contentType },
          'first frame was no hello, connection closed',
        );
        socket.destroy();
        return;
      }
      const joined = this.#options.allowGroups ? this.#groupOf(hello) : 'none';
      if (joined !== 'none') {
        this.#join(socket, decoder, hello, peer, joined);
        return;
      }
      const decision = await this.#options.authorize(hello, peer, certificate);
      if (socket.destroyed) return;
      if (!decision.accept) {
        log.warn({ peer: address, id: peer.id, reason: decision.log }, 'channel refused');
        if (decision.tell !== undefined) socket.end(encodeFrame(rejectHello(hello, decision.tell)));
        else socket.destroy();
        return;
      }
      this.#open(socket, decoder, hello, peer, decision);
    } catch (error) {
      log.error({ peer: address, err: error }, 'hello failed');
      socket.destroy();
    }
  }

  /** The group that the hello wants to join; 'none': it opens a channel of its own; 'unknown': it may not. */
  #groupOf(hello: Frame): Group | 'none' | 'unknown' {
    if (!hello.headers.bool(CHANNEL_HEADERS.isGrouped)) return 'none';
    const id = hello.headers.text(CHANNEL_HEADERS.connectionId) ?? '';
    const group = id === '' ? undefined : this.#groups.get(id);
    if (group !== undefined && !group.channel.isClosed) return group;
    return hello.headers.bool(CHANNEL_HEADERS.isFirstGroupConnection) ? 'none' : 'unknown';
  }

  #open(
    socket: tls.TLSSocket,
    decoder: FrameDecoder,
    hello: Frame,
    peer: ChannelPeer,
    decision: HelloDecision & { accept: true },
  ): void {
    const isGrouped = this.#options.allowGroups && hello.headers.bool(CHANNEL_HEADERS.isGrouped);
    const given = isGrouped ? hello.headers.text(CHANNEL_HEADERS.connectionId) : undefined;
    const id = given || hexOf(randomBytes(4));
    const offered = hello.headers.bytes(CHANNEL_HEADERS.groupSecret);
    const secret = offered !== undefined && offered.length > 0 ? offered : randomBytes(16);
    const type = hello.headers.text(CHANNEL_HEADERS.underlayType) ?? '';
    socket.write(encodeFrame(acceptHello(hello, this.#answer(id, isGrouped, type, secret, decision.extra))));

    const driver = new TlsDriver(this.#options.controlType ?? '');
    const channel = new Channel(
      {
        id,
        peer,
        log: this.#options.log,
        ...(decision.heartbeat === undefined ? {} : { heartbeat: decision.heartbeat }),
      },
      driver,
    );
    driver.start(channel);
    driver.attach(socket, decoder, type);
    this.#channels.add(channel);
    if (isGrouped) {
      this.#groups.set(id, { channel, driver, secret, fingerprint: peer.fingerprint, hello: hello.headers });
    }
    socket.on('close', () => {
      if (!channel.isClosed) return;
      this.#channels.delete(channel);
      if (this.#groups.get(id)?.channel === channel) this.#groups.delete(id);
    });
    this.#options.onChannel(channel, hello);
  }

  #join(
    socket: tls.TLSSocket,
    decoder: FrameDecoder,
    hello: Frame,
    peer: ChannelPeer,
    group: Group | 'unknown',
  ): void {
    const fault = group === 'unknown' ? 'unknown group' : joinFault(group, hello, peer);
    if (group === 'unknown' || fault !== undefined) {
      this.#options.log.warn({ peer: peer.address, reason: fault }, 'join of a channel refused');
      socket.destroy();
      return;
    }
    const type = hello.headers.text(CHANNEL_HEADERS.underlayType) ?? '';
    const answer = this.#answer(group.channel.id, true, type, group.secret, undefined);
    socket.write(encodeFrame(acceptHello(hello, answer)));
    group.driver.attach(socket, decoder, type);
    socket.on('close', () => {
      if (!group.channel.isClosed) return;
      this.#channels.delete(group.channel);
      if (this.#groups.get(group.channel.id) === group) this.#groups.delete(group.channel.id);
    });
  }

  #answer(id: string, isGrouped: boolean, type: string, secret: Uint8Array, extra: FrameHeaders | undefined) {
    return {
      connectionId: id,
      ownId: this.#options.ownId,
      ...(isGrouped ? { group: { underlayType: type, secret } } : {}),
      ...(extra === undefined ? {} : { extra }),
    };
  }
}

function joinFault(group: Group, hello: Frame, peer: ChannelPeer): string | undefined {
  const secret = hello.headers.bytes(CHANNEL_HEADERS.groupSecret);
  if (
    secret === undefined ||
    secret.length !== group.secret.length ||
    !timingSafeEqual(secret, group.secret)
  ) {
    return 'wrong group secret';
  }
  if (peer.fingerprint !== group.fingerprint) return 'another certificate than the first connection';
  if (hello.headers.text(SESSION_TOKEN) !== group.hello.text(SESSION_TOKEN)) {
    return 'another session than the first connection';
  }
  return undefined;
}
