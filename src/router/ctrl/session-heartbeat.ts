/**
 * Reports the API sessions with open channels to controllers every `edge.heartbeatIntervalSeconds`, so that they do not
 * expire.
 */
import { ctrlMessages } from '#wire/ctrl';
import type { Controllers } from './controllers.ts';

export interface SessionHeartbeatOptions {
  readonly intervalMs: number;
  readonly controllers: Controllers;
  /** Tokens of all edge channels. */
  readonly tokens: () => Iterable<string>;
}

const BATCH_TOKENS = 1_000;

export class SessionHeartbeat {
  readonly #options: SessionHeartbeatOptions;
  readonly #timer: NodeJS.Timeout;

  constructor(options: SessionHeartbeatOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#report(), options.intervalMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #report(): void {
    const tokens = [...new Set(this.#options.tokens())];
    for (let at = 0; at < tokens.length; at += BATCH_TOKENS) {
      const batch = tokens.slice(at, at + BATCH_TOKENS);
      this.#options.controllers.broadcast(ctrlMessages.apiSessionHeartbeat.frame({ tokens: batch }));
    }
  }
}
