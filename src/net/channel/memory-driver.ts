/**
 * A channel between two parts of one process: decoded frames in bounded queues, delivered in batches, with the
 * same back-pressure as over TLS. The caller, which alone can create such a pair, provides the identities.
 */
import { randomBytes, type X509Certificate } from 'node:crypto';
import { FrontdoorError, hexOf, type Log } from '#base';
import { acceptHello, makeHello, type Frame, type FrameHeaders } from '#wire';
import { keepPayload, PAYLOAD_TYPE, type DataFrame } from '#wire/xgress';
import {
  Channel,
  type ChannelDriver,
  type ChannelOptions,
  type ChannelPeer,
  type ChannelUnderlay,
  type DroppedFrames,
} from './channel.ts';
import type { HelloDecision } from './channel-listener.ts';
import { fingerprintOf } from './peer-certificate.ts';

const HIGH_WATER_BYTES = 1024 * 1024;
const MAX_QUEUED_BYTES = 64 * 1024 * 1024;
const FRAME_COST_BYTES = 128;
const UNDERLAYS = [{ type: 'default', localAddress: 'memory', remoteAddress: 'memory' }];

type Item =
  | { readonly frame: Frame; readonly data?: never }
  | { readonly data: DataFrame; readonly frame?: never };

class MemoryDriver implements ChannelDriver {
  #own: Channel | undefined;
  #other: MemoryDriver | undefined;
  #queue: Item[] = [];
  #queuedBytes = 0;
  #isDeliveryDue = false;
  #isPaused = false;
  #wasRefused = false;
  #isClosed = false;
  readonly #dropped = { payloads: 0, acknowledgements: 0 };

  /** Queue of frames from the other end. */
  tie(own: Channel, other: MemoryDriver): void {
    this.#own = own;
    this.#other = other;
  }

  get isWritable(): boolean {
    return this.#other!.#queuedBytes < HIGH_WATER_BYTES;
  }

  sendFrame(frame: Frame): boolean {
    // The body of a message that is passed on is not encoded.
    const bodyBytes = frame.message === undefined ? frame.body.length : 0;
    return this.#other!.#accept({ frame }, FRAME_COST_BYTES + bodyBytes, this);
  }

  get dropped(): DroppedFrames {
    return this.#dropped;
  }

  underlays(): readonly ChannelUnderlay[] {
    return this.#isClosed ? [] : UNDERLAYS;
  }

  afterQueued(callback: () => void): void {
    setImmediate(callback);
  }

  sendData(data: DataFrame): boolean {
    const isPayload = data.contentType === PAYLOAD_TYPE;
    const bytes = isPayload ? data.data.length : 0;
    if (this.#other!.#queuedBytes > MAX_QUEUED_BYTES) {
      if (isPayload) this.#dropped.payloads += 1;
      else this.#dropped.acknowledgements += 1;
      return false;
    }
    return this.#other!.#accept({ data }, FRAME_COST_BYTES + bytes, this);
  }

  pauseReading(): void {
    this.#isPaused = true;
  }

  resumeReading(): void {
    this.#isPaused = false;
    this.#schedule();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue = [];
    queueMicrotask(() => this.#other!.#own!.close('the peer closed the channel'));
  }

  #accept(item: Item, bytes: number, sender: MemoryDriver): boolean {
    if (this.#isClosed) return false;
    if (this.#isPaused && item.data?.contentType === PAYLOAD_TYPE) keepPayload(item.data);
    this.#queue.push(item);
    this.#queuedBytes += bytes;
    this.#schedule();
    if (this.#queuedBytes < HIGH_WATER_BYTES) return true;
    sender.#wasRefused = true;
    return false;
  }

  #schedule(): void {
    if (this.#isDeliveryDue || this.#isPaused || this.#queue.length === 0) return;
    this.#isDeliveryDue = true;
    queueMicrotask(this.#deliver);
  }

  readonly #deliver = (): void => {
    this.#isDeliveryDue = false;
    const items = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    const channel = this.#own!;
    for (const item of items) {
      if (item.frame !== undefined) channel.receive(item.frame);
      else channel.receiveData(item.data);
    }
    channel.receiveBatchEnd();
    const sender = this.#other!;
    if (sender.#wasRefused && !sender.#isClosed) {
      sender.#wasRefused = false;
      sender.#own!.drained();
    }
  };
}

/**
 * Returns two connected ends. `dialer.peer` is the identity of the other end from the dialer's view, and vice
 * versa.
 */
export function openMemoryChannel(
  dialer: ChannelOptions,
  listener: ChannelOptions,
): [dialer: Channel, listener: Channel] {
  const dialerDriver = new MemoryDriver();
  const listenerDriver = new MemoryDriver();
  const dialerChannel = new Channel(dialer, dialerDriver);
  const listenerChannel = new Channel(listener, listenerDriver);
  dialerDriver.tie(dialerChannel, listenerDriver);
  listenerDriver.tie(listenerChannel, dialerDriver);
  return [dialerChannel, listenerChannel];
}

/**
 * Opens a channel to a place of this process. Undefined: the place is elsewhere, and is dialed. `certPem` is the dialer's
 * certificate, leaf first.
 */
export type ChannelOpener = (
  place: string,
  helloId: string,
  helloHeaders: FrameHeaders,
  certPem: string,
) => Promise<Channel> | undefined;

/** The dialing end of a memory channel. */
export interface MemoryPeer {
  readonly helloId: string;
  readonly helloHeaders: FrameHeaders;
  /** The caller guarantees that the peer holds its key. */
  readonly certificate: X509Certificate;
}

/** What the listening end decides and provides, as a `ChannelListener` does. */
export interface MemoryListener {
  readonly ownId: string;
  readonly log: Log;
  authorize(
    hello: Frame,
    peer: ChannelPeer,
    certificate: X509Certificate,
  ): Promise<HelloDecision> | HelloDecision;
  onChannel(channel: Channel, hello: Frame): void;
}

/**
 * Judges the hello of a peer in this process like one over TLS. There are no heartbeats: neither end can be lost alone.
 * Rejects with `channel-refused`.
 */
export async function acceptMemoryChannel(peer: MemoryPeer, listener: MemoryListener): Promise<Channel> {
  const { helloId, helloHeaders, certificate } = peer;
  const { ownId, log } = listener;
  const hello = makeHello(helloId, helloHeaders);
  const fingerprint = fingerprintOf(certificate);
  const from: ChannelPeer = { id: helloId, hello: helloHeaders, fingerprint, address: 'memory' };
  const decision = await listener.authorize(hello, from, certificate);
  if (!decision.accept) throw new FrontdoorError('forbidden', 'channel-refused', decision.log);
  const id = hexOf(randomBytes(4));
  const answer = acceptHello(hello, { connectionId: id, ownId, extra: decision.extra });
  const to: ChannelPeer = { id: ownId, hello: answer.headers, fingerprint: '', address: 'memory' };
  const [dialer, accepted] = openMemoryChannel({ id, log, peer: to }, { id, log, peer: from });
  listener.onChannel(accepted, hello);
  return dialer;
}
