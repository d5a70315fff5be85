/**
 * Liveness of a channel. Answers every heartbeat at once; sends its own when told to; closes a peer that fell
 * silent. TCP alone would tell of a frozen or cut-off peer only after many minutes.
 */
import { CHANNEL_HEADERS, HeaderWriter } from '#wire';

export interface HeartbeatOptions {
  /** Own heartbeats, in ms. 0: none are sent. */
  readonly sendIntervalMs: number;
  /** Silence after which the channel is closed, in ms. 0: never. */
  readonly closeAfterMs: number;
  /** Close for silence only once the peer has sent a heartbeat itself: foreign SDKs never do. */
  readonly onlyIfPeerBeats?: boolean;
}

export interface HeartbeatEffects {
  send(headers: HeaderWriter): void;
  close(reason: string): void;
}

const CHECK_INTERVAL_MS = 1_000;

export class ChannelHeartbeat {
  readonly #options: HeartbeatOptions;
  readonly #effects: HeartbeatEffects;
  readonly #timer: NodeJS.Timeout | undefined;
  #lastReceivedMs = performance.now();
  #lastSentMs = 0;
  #lastCheckMs = performance.now();
  #peerBeats = false;

  constructor(options: HeartbeatOptions | undefined, effects: HeartbeatEffects) {
    this.#options = options ?? { sendIntervalMs: 0, closeAfterMs: 0 };
    this.#effects = effects;
    if (this.#options.sendIntervalMs > 0 || this.#options.closeAfterMs > 0) {
      this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL_MS);
      this.#timer.unref();
    }
  }

  /** Anything came. */
  onTraffic(): void {
    this.#lastReceivedMs = performance.now();
  }

  /** The peer's heartbeat came, alone or on another frame. */
  onBeat(beat: Uint8Array): void {
    this.#peerBeats = true;
    this.#effects.send(new HeaderWriter().bytes(CHANNEL_HEADERS.heartbeatResponse, beat.slice()));
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const nowMs = performance.now();
    const { sendIntervalMs, closeAfterMs, onlyIfPeerBeats = false } = this.#options;
    const lateMs = nowMs - this.#lastCheckMs - CHECK_INTERVAL_MS;
    this.#lastCheckMs = nowMs;
    // After a pause of our own (a stopped process, a blocked loop) what the peer sent meanwhile is still unread.
    if (lateMs > CHECK_INTERVAL_MS) this.#lastReceivedMs = nowMs;
    if (sendIntervalMs > 0 && nowMs - this.#lastSentMs >= sendIntervalMs - CHECK_INTERVAL_MS / 2) {
      this.#lastSentMs = nowMs;
      const unixNanos = BigInt(Date.now()) * 1_000_000n;
      this.#effects.send(new HeaderWriter().u64(CHANNEL_HEADERS.heartbeat, unixNanos));
    }
    const silentMs = nowMs - this.#lastReceivedMs;
    if (closeAfterMs > 0 && silentMs > closeAfterMs && (this.#peerBeats || !onlyIfPeerBeats)) {
      this.#effects.close(`the peer was silent for ${Math.round(silentMs / 1000)} s`);
    }
  }
}
