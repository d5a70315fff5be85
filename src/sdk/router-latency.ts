/**
 * Round trips to one router, measured by Latency probes (type 3). Every OpenZiti router answers these, while its edge
 * routers drop heartbeats, so that the answers are also what keeps a quiet channel open.
 */
import type { Channel } from '#net/channel';
import { contentType, HeaderWriter, headerId, makeFrame } from '#wire';

const PROBE_INTERVAL_MS = 2_000;
/** Later answers are not measured. */
const PROBE_TIMEOUT_MS = 8_000;
/** Share of a new round trip in the smoothed one, as in TCP. */
const NEW_SHARE = 1 / 8;

export class RouterLatency {
  readonly #channel: Channel;
  #timer: NodeJS.Timeout;
  #ms = Infinity;
  #answeredMs = performance.now();

  /** Probes at once, and then, in between the channel's heartbeats, at each interval until `stop`. */
  constructor(channel: Channel) {
    this.#channel = channel;
    this.#timer = setTimeout(() => {
      this.#timer = setInterval(() => void this.probe(), PROBE_INTERVAL_MS).unref();
      void this.probe();
    }, PROBE_INTERVAL_MS / 2).unref();
    void this.probe();
  }

  /** The smoothed round trip in ms; Infinity before the first answer. */
  get ms(): number {
    return this.#ms;
  }

  /** Whether the router has not answered for as long as two probes take. */
  get isSilent(): boolean {
    return performance.now() - this.#answeredMs > 2 * PROBE_INTERVAL_MS;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Resolves when the router has handled everything that was sent before, or does not answer. */
  async probe(): Promise<void> {
    const sentMs = performance.now();
    const headers = new HeaderWriter().u64(headerId.channel.reflected, BigInt(Math.round(sentMs * 1e6)));
    try {
      await this.#channel.request(makeFrame(contentType.latency, { headers }), PROBE_TIMEOUT_MS);
    } catch {
      // The channel's heartbeat options decide when a silent router has gone.
      return;
    }
    this.#answeredMs = performance.now();
    const tookMs = this.#answeredMs - sentMs;
    this.#ms = this.#ms === Infinity ? tookMs : this.#ms + NEW_SHARE * (tookMs - this.#ms);
  }
}
