/**
 * When a link counts as silent: nothing at all has come from the other end for 12 s, though it was probed every two.
 * Heartbeats alone come each ten seconds, and their answers wait behind what a slow link still carries; anything that
 * comes proves the link, so a slow one is never silent. Time is handed in.
 */

/** Idle links are probed from here on. */
const QUIET_MS = 4_000;
const PROBE_EVERY_MS = 2_000;
const SILENT_MS = 12_000;
/** Sent in vain before a link is silent. */
const LEAST_PROBES = 3;

/** `probe`: ask the other end now; `silent`: it just fell silent. */
export type SilenceStep = 'none' | 'probe' | 'silent';

export class LinkSilenceMachine {
  #received = -1;
  #heardMs: number;
  #probedMs = -Infinity;
  #probes = 0;
  #isSilent = false;

  constructor(nowMs: number) {
    this.#heardMs = nowMs;
  }

  /** To be called each check interval. `received`: counts what came; `isPaused`: this side does not read now. */
  check(nowMs: number, received: number, isPaused: boolean): SilenceStep {
    if (isPaused || received !== this.#received) {
      this.#received = received;
      this.#heardMs = nowMs;
      this.#probes = 0;
      this.#isSilent = false;
      return 'none';
    }
    const quietMs = nowMs - this.#heardMs;
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
