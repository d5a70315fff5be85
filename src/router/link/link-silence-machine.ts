/**
 * Decides when a link counts as silent: the peer has sent nothing at all for 12 s, although it was probed every 2 s.
 * Heartbeats are sent only every 10 s, and their answers queue behind other frames on a slow link. Any received frame
 * proves that the link works, so a slow link is never silent. The caller provides the time.
 */

/** Idle time after which a link is probed. */
const QUIET_MS = 4_000;
const PROBE_EVERY_MS = 2_000;
const SILENT_MS = 12_000;
/** Unanswered probes before a link counts as silent. */
const LEAST_PROBES = 3;

/** `probe`: send a probe now; `silent`: the link became silent. */
export type SilenceStep = 'none' | 'probe' | 'silent';

export class LinkSilenceMachine {
  #received = -1;
  #receivedMs: number;
  #probedMs = -Infinity;
  #probes = 0;
  #isSilent = false;

  constructor(nowMs: number) {
    this.#receivedMs = nowMs;
  }

  /**
   * Called at each check interval. `received` counts received data; `isPaused` is true while this side does not read.
   */
  check(nowMs: number, received: number, isPaused: boolean): SilenceStep {
    if (isPaused || received !== this.#received) {
      this.#received = received;
      this.#receivedMs = nowMs;
      this.#probes = 0;
      this.#isSilent = false;
      return 'none';
    }
    const quietMs = nowMs - this.#receivedMs;
    if (quietMs >= SILENT_MS && this.#probes >= LEAST_PROBES && !this.#isSilent) {
      this.#isSilent = true;
      return 'silent';
    }
    if (quietMs < QUIET_MS || nowMs - this.#probedMs < PROBE_EVERY_MS) return 'none';
    this.#probedMs = nowMs;
    this.#probes += 1;
    return 'probe';
  }
}
