/**
 * What the rest of the control plane sees of storage: typed queries, and transactions whose changes are told to
 * listeners after the commit and before the writer goes on, so that an acknowledged write is in effect.
 */
import type { Kysely, Transaction } from 'kysely';
import type { Database } from './schema.ts';

/** What changed; listeners read the rows again (none there: deleted). */
export interface Change {
  readonly entity: 'organization' | 'frontdoor' | 'frontend' | 'identity' | 'share' | 'signing-key';
  readonly id: string;
}

export type Touch = (entity: Change['entity'], id: string) => void;

/** A database or a transaction of it: what a query function needs. */
export type Queries = Kysely<Database>;

export type StoreTransaction = Transaction<Database>;

export interface Store {
  /** Single statements. Never used inside a `transaction`: on the embedded database that waits for itself. */
  readonly db: Queries;
  /** All or nothing, durable when it returns. No network waits inside. `touch` names what listeners must hear of. */
  transaction<T>(work: (trx: StoreTransaction, touch: Touch) => Promise<T>): Promise<T>;
  /**
   * Listeners run in order after each commit, at this control plane's own changes and (PostgreSQL) at others'.
   * Changes of commits that came close together may be told in one call.
   */
  onChange(listener: (changes: readonly Change[]) => Promise<void> | void): void;
  close(): Promise<void>;
}
