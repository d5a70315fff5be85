/**
 * The channels of a listener and their connections: groups (OpenZiti's underlays), whose joining connections must
 * present the group's secret and the first connection's leaf certificate, and the two halves of split links,
 * which are paired by header 0.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { hexOf, type Log } from '#base';
import {
  acceptHello,
  CHANNEL_HEADERS,
  encodeFrame,
  type Frame,
  type FrameDecoder,
  type FrameHeaders,
  type FrameLimits,
} from '#wire';
import { SPLIT_MINIMUMS, SPLIT_TYPES, type PeerLimits } from './channel-kind-table.ts';
import { Channel, type ChannelPeer } from './channel.ts';
import type { HeartbeatOptions } from './heartbeat-machine.ts';
import { PeerCounts } from './peer-counts.ts';
import { TlsDriver, type SendLimits } from './tls-driver.ts';
import type { UnfinishedFrames } from './unfinished-frames.ts';

export interface ChannelGroupsOptions {
  readonly ownId: string;
  readonly allowGroups: boolean;
  readonly allowSplit: boolean;
  readonly limits: FrameLimits;
  readonly peerLimits: PeerLimits;
  readonly unfinished: UnfinishedFrames | undefined;
  readonly send: SendLimits;
  readonly log: Log;
  onChannel(channel: Channel, hello: Frame): void;
  readonly hasToken?: ((channel: Channel, token: string) => boolean) | undefined;
}

/** A connection whose hello has arrived. */
export interface HelloedConnection {
  readonly socket: TLSSocket;
  /** May hold bytes that followed the hello. */
  readonly decoder: FrameDecoder;
  readonly hello: Frame;
  readonly peer: ChannelPeer;
}

interface Acceptance {
  /** If absent, the certificate identifies the peer. */
  readonly identity?: string | undefined;
  readonly extra?: FrameHeaders | undefined;
  readonly heartbeat?: HeartbeatOptions | undefined;
}

interface Group {
  readonly channel: Channel;
  readonly driver: TlsDriver;
  readonly secret: Uint8Array;
  readonly fingerprint: string;
  readonly owner: string;
  readonly hello: FrameHeaders;
}

interface Half {
  readonly connection: HelloedConnection;
  readonly type: string;
  readonly owner: string;
  readonly heartbeat: HeartbeatOptions | undefined;
  readonly timer: NodeJS.Timeout;
}

/** A header of an edge hello that joining connections must repeat: the API session token. */
const SESSION_TOKEN = 1002;
/** Nobody can guess the id of a channel, by which its peer names it when it replaces it. */
const CHANNEL_ID_BYTES = 16;
const SPLIT_WAIT_MS = 30_000;
const MAX_HALVES = 1_024;
/** Limit per channel. Dialers are configured for 200 at most. */
const MAX_CONNECTIONS = 256;

export class ChannelGroups {
  readonly channels = new Set<Channel>();
  readonly #options: ChannelGroupsOptions;
  readonly #groups = new Map<string, Group>();
  /** By the connection id of their hello. */
  readonly #halves = new Map<string, Half>();
  readonly #counts: PeerCounts;

  constructor(options: ChannelGroupsOptions) {
    this.#options = options;
    this.#counts = new PeerCounts(options.peerLimits);
  }

  /** Returns true if the connection joined a channel or was refused, false if it begins a new one. */
  join(connection: HelloedConnection): boolean {
    const { hello, peer, socket } = connection;
    if (!this.#isGrouped(hello)) return false;
    const id = hello.headers.text(CHANNEL_HEADERS.connectionId) ?? '';
    const group = id === '' ? undefined : this.#groups.get(id);
    if (group === undefined || group.channel.isClosed) {
      if (hello.headers.bool(CHANNEL_HEADERS.isFirstGroupConnection)) return false;
      this.#refuse(connection, 'unknown group');
      return true;
    }
    const isFull = group.driver.underlays().length >= MAX_CONNECTIONS;
    const fault = isFull
      ? 'the channel has too many connections'
      : (joinFault(group, hello, peer, this.#options) ?? this.#counts.connectionFault(group.owner));
    if (fault !== undefined) {
      this.#refuse(connection, fault);
      return true;
    }
    this.#answer(connection, group.channel.id, group.secret, undefined);
    group.driver.attach(socket, connection.decoder, typeOf(hello));
    this.#watch(socket, group.channel, group.owner);
    return true;
  }

  /** Returns why the peer may not open another channel here, or undefined if it may. */
  openFault(identity: string): string | undefined {
    return this.#counts.channelFault(identity);
  }

  /** Opens a channel whose hello was accepted, or keeps the half of one. */
  open(connection: HelloedConnection, { identity, extra, heartbeat }: Acceptance): void {
    const { hello } = connection;
    const owner = identity ?? connection.peer.fingerprint;
    const half = this.#options.allowSplit ? SPLIT_TYPES[splitNumberOf(hello)] : undefined;
    if (half !== undefined) {
      this.#pair(connection, half, owner, extra, heartbeat);
      return;
    }
    const isGrouped = this.#isGrouped(hello);
    const given = isGrouped ? hello.headers.text(CHANNEL_HEADERS.connectionId) : undefined;
    const id = given || hexOf(randomBytes(CHANNEL_ID_BYTES));
    // Another connection may have taken the id while this hello was judged.
    if (this.#groups.get(id)?.channel.isClosed === false) {
      this.#refuse(connection, 'the group exists');
      return;
    }
    const offered = hello.headers.bytes(CHANNEL_HEADERS.groupSecret);
    const secret = offered !== undefined && offered.length > 0 ? offered.slice() : randomBytes(16);
    this.#answer(connection, id, isGrouped ? secret : undefined, extra);
    const { send } = this.#options;
    const driver = this.#driver(owner, isGrouped ? send : withOneQueue(send));
    const channel = this.#start(connection, id, driver, typeOf(hello), owner, heartbeat);
    if (isGrouped) {
      const { fingerprint } = connection.peer;
      this.#groups.set(id, { channel, driver, secret, fingerprint, owner, hello: hello.headers });
    }
    this.#options.onChannel(channel, hello);
  }

  close(reason: string): void {
    for (const half of this.#halves.values()) this.#drop(half);
    for (const channel of this.channels) channel.close(reason);
  }

  #pair(
    connection: HelloedConnection,
    type: string,
    owner: string,
    extra: FrameHeaders | undefined,
    heartbeat: HeartbeatOptions | undefined,
  ): void {
    const { hello, peer, socket } = connection;
    const id = hello.headers.text(CHANNEL_HEADERS.connectionId) ?? '';
    const other = this.#halves.get(id);
    const fault = this.#halfFault(id, other, type, peer);
    if (fault !== undefined) {
      this.#refuse(connection, fault);
      return;
    }
    this.#answer(connection, id, undefined, extra);
    if (other === undefined) {
      const timer = setTimeout(() => this.#drop(half), SPLIT_WAIT_MS);
      const half: Half = { connection, type, owner, heartbeat, timer };
      this.#halves.set(id, half);
      socket.on('close', () => this.#forget(half));
      return;
    }
    this.#forget(other);
    const mine: Half = { ...other, connection, type, heartbeat };
    const [payloads, acknowledgements] = type === SPLIT_TYPES[1] ? [mine, other] : [other, mine];
    const driver = this.#driver(owner, withOneQueue(this.#options.send), SPLIT_MINIMUMS);
    const channel = this.#start(payloads.connection, id, driver, payloads.type, owner, payloads.heartbeat);
    const { socket: second, decoder } = acknowledgements.connection;
    driver.attach(second, decoder, acknowledgements.type);
    this.#watch(second, channel, owner);
    this.#options.onChannel(channel, payloads.connection.hello);
  }

  #halfFault(id: string, other: Half | undefined, type: string, peer: ChannelPeer): string | undefined {
    if (id === '') return 'half of a split link without a connection id';
    if (other === undefined) {
      return this.#halves.size >= MAX_HALVES ? 'too many halves of split links' : undefined;
    }
    if (other.type === type) return `two ${type} connections of one split link`;
    if (other.connection.peer.fingerprint !== peer.fingerprint || other.connection.peer.id !== peer.id) {
      return 'half of another peer’s split link';
    }
    return undefined;
  }

  #forget(half: Half): void {
    clearTimeout(half.timer);
    for (const [id, known] of this.#halves) if (known === half) this.#halves.delete(id);
  }

  #drop(half: Half): void {
    this.#forget(half);
    this.#refuse(half.connection, 'the other half of a split link did not arrive');
  }

  #driver(owner: string, send: SendLimits, minimums?: ReadonlyMap<string, number>): TlsDriver {
    const { limits, peerLimits, unfinished } = this.#options;
    return new TlsDriver({
      limits,
      send,
      owner,
      maxUnfinishedBytes: peerLimits.maxUnfinishedBytes,
      unfinished,
      minimums,
    });
  }

  #start(
    { socket, decoder, peer }: HelloedConnection,
    id: string,
    driver: TlsDriver,
    type: string,
    owner: string,
    heartbeat: HeartbeatOptions | undefined,
  ): Channel {
    const { log } = this.#options;
    const channel = new Channel({ id, peer, log, heartbeat }, driver);
    driver.start(channel);
    driver.attach(socket, decoder, type);
    this.channels.add(channel);
    this.#counts.channelOpened(owner);
    this.#watch(socket, channel, owner);
    return channel;
  }

  /** A closed channel is removed with its last connection. */
  #watch(socket: TLSSocket, channel: Channel, owner: string): void {
    this.#counts.connectionOpened(owner);
    socket.on('close', () => {
      this.#counts.connectionClosed(owner);
      if (!channel.isClosed || !this.channels.delete(channel)) return;
      this.#counts.channelClosed(owner);
      if (this.#groups.get(channel.id)?.channel === channel) this.#groups.delete(channel.id);
    });
  }

  #answer(
    { socket, hello }: HelloedConnection,
    connectionId: string,
    secret: Uint8Array | undefined,
    extra: FrameHeaders | undefined,
  ): void {
    const answer = acceptHello(hello, {
      connectionId,
      ownId: this.#options.ownId,
      group: secret && { underlayType: typeOf(hello), secret },
      extra,
    });
    socket.write(encodeFrame(answer));
  }

  #refuse({ socket, peer }: HelloedConnection, reason: string): void {
    this.#options.log.warn({ peer: peer.address, reason }, 'join of a channel refused');
    socket.destroy();
  }

  #isGrouped(hello: Frame): boolean {
    return this.#options.allowGroups && hello.headers.bool(CHANNEL_HEADERS.isGrouped);
  }
}

function joinFault(
  group: Group,
  hello: Frame,
  peer: ChannelPeer,
  { hasToken }: ChannelGroupsOptions,
): string | undefined {
  const secret = hello.headers.bytes(CHANNEL_HEADERS.groupSecret);
  if (
    secret === undefined ||
    secret.length !== group.secret.length ||
    !timingSafeEqual(secret, group.secret)
  ) {
    return 'wrong group secret';
  }
  if (peer.fingerprint !== group.fingerprint) return 'another certificate than the first connection';
  const token = hello.headers.text(SESSION_TOKEN);
  const isSame = token === group.hello.text(SESSION_TOKEN);
  if (!isSame && (token === undefined || hasToken?.(group.channel, token) !== true)) {
    return 'another session than the first connection';
  }
  return undefined;
}

/** Separate queues for payloads and acknowledgements are for groups; other links use `outQueueSize` for both. */
function withOneQueue({ outQueueSize, writeTimeoutMs }: SendLimits): SendLimits {
  return { outQueueSize, writeTimeoutMs };
}

function typeOf(hello: Frame): string {
  return hello.headers.text(CHANNEL_HEADERS.underlayType) ?? '';
}

/** Returns 0 unless header 1 is a single byte. On other channels it is the sequence of a reply. */
function splitNumberOf(hello: Frame): number {
  const value = hello.headers.bytes(CHANNEL_HEADERS.replyFor);
  return value?.length === 1 ? value[0]! : 0;
}
