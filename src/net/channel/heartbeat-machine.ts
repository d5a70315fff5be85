/**
 * Liveness of a channel's peer: when to send heartbeats, whether the peer responds, and when it counts as gone.
 * The peer is judged by its responses to heartbeats, which prove both directions; a peer that never responds is
 * judged by its silence. Time is an argument.
 */
export interface HeartbeatOptions {
  /** Interval of own heartbeats in ms. 0: none are sent. */
  readonly sendIntervalMs: number;
  /**
   * Closes the channel after this time without a response, in ms; twice as long before the first response. 0:
   * never.
   */
  readonly closeAfterMs: number;
  /** Interval of the checks in ms; 1,000 by default. */
  readonly checkIntervalMs?: number;
  /** Responses later than this make the peer unresponsive, in ms. 0 or absent: never. */
  readonly unresponsiveAfterMs?: number;
  /** Whether any traffic counts as a response, for peers that need not answer heartbeats. */
  readonly countsTraffic?: boolean;
  /** Closes for silence only once the peer has sent a heartbeat itself, which foreign SDKs never do. */
  readonly onlyIfPeerBeats?: boolean;
}

const DEFAULT_CHECK_INTERVAL_MS = 1_000;

export class HeartbeatMachine {
  readonly checkIntervalMs: number;
  readonly #options: HeartbeatOptions;
  /** Whether only responses count. */
  readonly #wantsAnswers: boolean;
  #lastSignMs: number;
  #lastCheckMs: number;
  #lastSentMs: number | undefined;
  /** Time of the oldest heartbeat without a response. */
  #unansweredMs: number | undefined;
  #lastLatencyMs = 0;
  #peerBeats = false;

  constructor(options: HeartbeatOptions, nowMs: number) {
    const { sendIntervalMs, closeAfterMs, checkIntervalMs, countsTraffic, onlyIfPeerBeats } = options;
    this.#options = options;
    this.checkIntervalMs = checkIntervalMs ?? DEFAULT_CHECK_INTERVAL_MS;
    this.#wantsAnswers = sendIntervalMs > 0 && countsTraffic !== true && onlyIfPeerBeats !== true;
    this.#lastSignMs = this.#wantsAnswers ? nowMs + closeAfterMs : nowMs;
    this.#lastCheckMs = nowMs;
  }

  get isIdle(): boolean {
    return this.#options.sendIntervalMs <= 0 && this.#options.closeAfterMs <= 0;
  }

  onTraffic(nowMs: number): void {
    if (!this.#wantsAnswers) this.#lastSignMs = nowMs;
  }

  onPeerBeat(): void {
    this.#peerBeats = true;
  }

  onAnswer(latencyMs: number, nowMs: number): void {
    this.#lastLatencyMs = latencyMs;
    this.#unansweredMs = undefined;
    // Ends the grace period before the first response.
    this.#lastSignMs = nowMs;
  }

  onSent(nowMs: number): void {
    this.#lastSentMs = nowMs;
    this.#unansweredMs ??= nowMs;
  }

  isResponsive(nowMs: number): boolean {
    const { unresponsiveAfterMs = 0 } = this.#options;
    if (unresponsiveAfterMs <= 0) return true;
    if (this.#unansweredMs !== undefined && nowMs - this.#unansweredMs > unresponsiveAfterMs) return false;
    return this.#lastLatencyMs <= unresponsiveAfterMs;
  }

  /** Must be called every `checkIntervalMs`. If `silentMs` is set, the peer is gone and the channel must be closed. */
  check(nowMs: number): { readonly isBeatDue: boolean; readonly silentMs: number | undefined } {
    const { sendIntervalMs, closeAfterMs, onlyIfPeerBeats = false } = this.#options;
    const lateMs = nowMs - this.#lastCheckMs - this.checkIntervalMs;
    this.#lastCheckMs = nowMs;
    // After a pause of this process (stopped, or a blocked event loop), the peer's data of that time is still
    // unread.
    if (lateMs > DEFAULT_CHECK_INTERVAL_MS) {
      this.#lastSignMs = Math.max(this.#lastSignMs, nowMs);
      if (this.#unansweredMs !== undefined) this.#unansweredMs = nowMs;
    }
    const sinceSentMs = this.#lastSentMs === undefined ? Infinity : nowMs - this.#lastSentMs;
    const silentMs = nowMs - this.#lastSignMs;
    const isGone = closeAfterMs > 0 && silentMs > closeAfterMs && (this.#peerBeats || !onlyIfPeerBeats);
    return {
      // Rather half a check early than a whole check late.
      isBeatDue: sendIntervalMs > 0 && sinceSentMs >= sendIntervalMs - this.checkIntervalMs / 2,
      silentMs: isGone ? silentMs : undefined,
    };
  }
}
