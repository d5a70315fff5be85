/** Bounds the terminators that each router creates at the same time, and answers every request to create one. */
import { FrontdoorError, type Log } from '#base';
import type { ConnectedRouter } from '../routers/connected-router.ts';
import { busy, type TerminatorRefusal } from './terminator-creation.ts';

const MAX_PENDING_PER_ROUTER = 4_096;

export interface PendingTerminator {
  readonly id: string;
  /** Resolves with undefined when the terminator exists. Rejects if it could not be stored. */
  create(): Promise<TerminatorRefusal | undefined>;
  /** Not called if the terminator was removed in the meantime. */
  answer(refusal: TerminatorRefusal | undefined): void;
}

export class PendingTerminators {
  readonly #log: Log;
  readonly #counts = new WeakMap<ConnectedRouter, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  countOf(router: ConnectedRouter): number {
    return this.#counts.get(router) ?? 0;
  }

  async run(router: ConnectedRouter, { id, create, answer }: PendingTerminator): Promise<void> {
    const count = this.countOf(router);
    if (count >= MAX_PENDING_PER_ROUTER) {
      answer(busy('too many terminators are being created'));
      return;
    }
    this.#counts.set(router, count + 1);
    try {
      answer(await create());
    } catch (error) {
      if (error instanceof FrontdoorError && error.code === 'terminator-removed') return;
      this.#log.warn({ err: error, terminator: id }, 'terminator could not be stored');
      answer(busy('the terminator could not be stored'));
    } finally {
      this.#counts.set(router, this.countOf(router) - 1);
    }
  }
}
