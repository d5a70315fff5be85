/**
 * The names and logos of the pages on which visitors of shares sign in. The control plane is asked when a page is shown, and at most
 * once a minute for a share. A page does not wait for it long, and is shown without them when it does not answer.
 */
import { messageOf, type Log } from '#base';
import type { SignInPageQuery, SignInPageShown } from '#domain/gateway-shapes';
import { BoundedMap } from './bounded-map.ts';
import { answerInTime } from './login-control.ts';

export interface SignInLooksOptions {
  readonly find: (query: SignInPageQuery) => Promise<SignInPageShown>;
  readonly log: Log;
  /** Monotonic milliseconds. */
  readonly monotonicMs: () => number;
}

interface Kept {
  readonly look: Promise<SignInPageShown>;
  readonly untilMs: number;
}

export const NO_LOOK: SignInPageShown = { title: null, logo: null };

/** With logos of 44 kB, 4 MiB. */
const MAX_KEPT = 100;
const KEPT_MS = 60_000;
/** A control plane that is away, or an older one, is asked again after this time. */
const RETRY_MS = 10_000;
const WAIT_MS = 2_000;
/** Visitors of many shares at once do not become as many requests to the control plane. */
const MAX_ASKED = 20;

export class SignInLooks {
  readonly #options: SignInLooksOptions;
  readonly #kept = new BoundedMap<string, Kept>(MAX_KEPT);
  #asked = 0;

  constructor(options: SignInLooksOptions) {
    this.#options = options;
  }

  /** Never rejects. Visitors who come at once wait for one answer. */
  of(shareId: string): Promise<SignInPageShown> {
    const nowMs = this.#options.monotonicMs();
    const kept = this.#kept.get(shareId);
    if (kept !== undefined && kept.untilMs > nowMs) return kept.look;
    if (this.#asked >= MAX_ASKED) return Promise.resolve(NO_LOOK);
    const look = this.#ask(shareId);
    this.#kept.set(shareId, { look, untilMs: nowMs + KEPT_MS });
    return look;
  }

  async #ask(shareId: string): Promise<SignInPageShown> {
    const { find, log, monotonicMs } = this.#options;
    this.#asked += 1;
    try {
      return await answerInTime(find({ shareId }), WAIT_MS);
    } catch (error) {
      log.debug({ hop: 'control', cause: messageOf(error) }, 'sign-in page without name and logo');
      this.#kept.set(shareId, { look: Promise.resolve(NO_LOOK), untilMs: monotonicMs() + RETRY_MS });
      return NO_LOOK;
    } finally {
      this.#asked -= 1;
    }
  }
}
