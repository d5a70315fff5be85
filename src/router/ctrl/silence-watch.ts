/**
 * Notices that a controller with a pending request does not respond at all, as when its process is stopped: its
 * connection stays open, and heartbeats alone would need much longer. A controller that is only slow with the answer
 * still echoes heartbeats, and is waited for.
 */
import { CHANNEL_HEADERS, HEARTBEAT_TYPE, HeaderWriter, makeFrame } from '#wire';
import type { Controller } from './controllers.ts';

export interface SilenceLimits {
  /** A request that is pending for this time causes a heartbeat. */
  readonly waitMs: number;
  /** Time limit for anything to arrive after that. */
  readonly echoMs: number;
}

/** Together less than 2 s, so that a circuit is established elsewhere within 3 s. */
export const SILENCE_LIMITS: SilenceLimits = { waitMs: 700, echoMs: 1_000 };

export class SilenceWatch {
  /** Resolves when the controller does not respond. Pending for ever if it does, or after `stop`. */
  readonly silent: Promise<'silent'>;
  readonly #controller: Controller;
  readonly #limits: SilenceLimits;
  readonly #hasOther: () => boolean;
  readonly #onSilent: (silent: 'silent') => void;
  #timer: NodeJS.Timeout;

  /** Without another controller, the only one is waited for. */
  constructor(controller: Controller, limits: SilenceLimits, hasOther: () => boolean) {
    this.#controller = controller;
    this.#limits = limits;
    this.#hasOther = hasOther;
    const { promise, resolve } = Promise.withResolvers<'silent'>();
    this.silent = promise;
    this.#onSilent = resolve;
    this.#timer = this.#wait();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = this.#hasOther() ? this.#examine() : this.#wait();
    }, this.#limits.waitMs);
  }

  #examine(): NodeJS.Timeout {
    const { channel } = this.#controller;
    const { reads } = channel;
    // The time in it is not one of the channel's own heartbeats, so the echo does not count as a measurement.
    const headers = new HeaderWriter().u64(CHANNEL_HEADERS.heartbeat, 0n);
    channel.send(makeFrame(HEARTBEAT_TYPE, { headers }));
    return setTimeout(() => {
      if (channel.reads !== reads) {
        this.#timer = this.#wait();
        return;
      }
      this.#controller.suspect();
      this.#onSilent('silent');
    }, this.#limits.echoMs);
  }
}
