/** Removes expired responses for repeated requests, every minute. */
import { sweepKeptAnswers } from './idempotency-store.ts';
import { StoreSweep, type SweepParts, type Store } from '../../store/mod.ts';

const SWEEP_MS = 60_000;
const STATEMENTS_A_SWEEP = 50;

export class IdempotencySweep extends StoreSweep {
  readonly #store: Pick<Store, 'transaction'>;

  constructor(parts: SweepParts & { readonly store: Pick<Store, 'transaction'> }) {
    super(parts, 'answers to repeated requests', SWEEP_MS);
    this.#store = parts.store;
  }

  protected pass(nowMs: number): Promise<void> {
    return this.deleteAll(
      async (most) => ((await sweepKeptAnswers(this.#store, nowMs, most)) ? most : 0),
      STATEMENTS_A_SWEEP,
    );
  }
}
