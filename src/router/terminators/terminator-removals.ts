/**
 * Reports removed terminators to every controller, in batches. Repeats a report while a controller is busy or does not
 * answer. A controller that is disconnected validates its terminators when it reconnects.
 */
import { messageOf, type Log } from '#base';
import { CHANNEL_HEADERS } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { Controller, Controllers } from '../ctrl/controllers.ts';

export interface TerminatorRemovalsOptions {
  readonly log: Log;
  readonly requestTimeoutMs: number;
  readonly controllers: Controllers;
  /** A terminator can be hosted again under its id before its removal was reported. */
  isHosted(id: string): boolean;
}

const BATCH = 50;
const ATTEMPTS = 3;
const RETRY_MS = 5_000;
/** Header of a Result with the reason of a failure. */
const RESULT_ERROR_CODE = 10;
const BUSY = 1;

export class TerminatorRemovals {
  readonly #options: TerminatorRemovalsOptions;
  readonly #retries = new Set<NodeJS.Timeout>();
  #waiting: string[] = [];
  #isClosed = false;

  constructor(options: TerminatorRemovalsOptions) {
    this.#options = options;
  }

  add(id: string): void {
    if (this.#waiting.push(id) === 1) setImmediate(() => this.#flush());
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#retries) clearTimeout(timer);
    this.#retries.clear();
  }

  #flush(): void {
    const ids = this.#waiting;
    this.#waiting = [];
    for (let at = 0; at < ids.length; at += BATCH) {
      const batch = ids.slice(at, at + BATCH);
      for (const controller of this.#options.controllers.all())
        void this.#report(controller, batch, ATTEMPTS);
    }
  }

  async #report(controller: Controller, ids: readonly string[], attempts: number): Promise<void> {
    const { isHosted, requestTimeoutMs, log } = this.#options;
    const terminatorIds = ids.filter((id) => !isHosted(id));
    if (this.#isClosed || terminatorIds.length === 0 || controller.channel.isClosed) return;
    let problem = 'the controller is busy';
    try {
      const request = ctrlMessages.removeTerminators.frame({ terminatorIds });
      const { headers } = await controller.channel.request(request, requestTimeoutMs);
      if (headers.bool(CHANNEL_HEADERS.resultSuccess) || headers.u32(RESULT_ERROR_CODE) !== BUSY) return;
    } catch (error) {
      problem = messageOf(error);
    }
    if (this.#isClosed || controller.channel.isClosed) return;
    if (attempts <= 1) {
      log.warn({ controllerId: controller.id, terminatorIds, err: problem }, 'terminators not removed');
      return;
    }
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      void this.#report(controller, ids, attempts - 1);
    }, RETRY_MS);
    this.#retries.add(timer);
  }
}
