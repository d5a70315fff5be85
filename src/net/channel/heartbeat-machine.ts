/**
 * Liveness of a channel's peer: when to beat, whether it answers, when it counts as gone. It is judged by its answers
 * to our beats, which prove both directions; a peer that answers none is judged by its silence. Time is handed in.
 */
export interface HeartbeatOptions {
  /** Own heartbeats, in ms. 0: none are sent. */
  readonly sendIntervalMs: number;
  /** Without an answer for so long the channel is closed, in ms; twice as long before the first one. 0: never. */
  readonly closeAfterMs: number;
  /** How often all of this is looked at, in ms; 1,000 unless told. */
  readonly checkIntervalMs?: number;
  /** Answers later than this make the peer unresponsive, in ms. 0 or absent: it never is. */
  readonly unresponsiveAfterMs?: number;
  /** Any traffic counts as an answer: towards peers that need not answer heartbeats. */
  readonly countsTraffic?: boolean;
  /** Close for silence only once the peer has sent a heartbeat itself: foreign SDKs never do. */
  readonly onlyIfPeerBeats?: boolean;
}

const DEFAULT_CHECK_INTERVAL_MS = 1_000;

export class HeartbeatMachine {
  readonly checkIntervalMs: number;
  readonly #options: HeartbeatOptions;
  /** Whether answers alone count. */
  readonly #wantsAnswers: boolean;
  #lastSignMs: number;
  #lastCheckMs: number;
  #lastSentMs: number | undefined;
  /** Of the oldest beat without an answer. */
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
    // The grace before the first answer ends with it.
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

  /** To be called each `checkIntervalMs`. `silentMs`: the peer is gone, close. */
  check(nowMs: number): { readonly isBeatDue: boolean; readonly silentMs: number | undefined } {
    const { sendIntervalMs, closeAfterMs, onlyIfPeerBeats = false } = this.#options;
    const lateMs = nowMs - this.#lastCheckMs - this.checkIntervalMs;
    this.#lastCheckMs = nowMs;
    // After a pause of our own (a stopped process, a blocked loop) what the peer sent meanwhile is still unread.
    if (lateMs > DEFAULT_CHECK_INTERVAL_MS) {
      this.#lastSignMs = Math.max(this.#lastSignMs, nowMs);
      if (this.#unansweredMs !== undefined) this.#unansweredMs = nowMs;
    }
    const sinceSentMs = this.#lastSentMs === undefined ? Infinity : nowMs - this.#lastSentMs;
    const silentMs = nowMs - this.#lastSignMs;
    const isGone = closeAfterMs > 0 && silentMs > closeAfterMs && (this.#peerBeats || !onlyIfPeerBeats);
    return {
      // Half a check early rather than a whole one late.
      isBeatDue: sendIntervalMs > 0 && sinceSentMs >= sendIntervalMs - this.checkIntervalMs / 2,
      silentMs: isGone ? silentMs : undefined,
    };
  }
}
