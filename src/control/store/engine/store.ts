/**
 * What the rest of the control plane sees of storage: typed queries, and transactions whose changes are told to
 * listeners after the commit and before the writer goes on, so that an acknowledged write is in effect.
 */
import type { Kysely, Transaction } from 'kysely';
import type { ListPages } from './list-pages.ts';
import type { Database } from '../schema/schema.ts';

/** What changed; listeners read the rows again (none there: deleted). */
export interface Change {
  readonly entity:
    | 'organization'
    | 'frontdoor'
    | 'frontend'
    | 'identity'
    | 'share'
    | 'signing-key'
    /** An API account or an OAuth client. */
    | 'caller'
    | 'auth-provider'
    /** `id` is the organization. */
    | 'audit'
    | 'api-session'
    | 'terminator'
    | 'fabric-service'
    | 'fabric-terminator'
    | 'custom-frontend'
    /** A session of a log-in at a share that is over. */
    | 'login-session'
    /** `id` is the replica. */
    | 'replica'
    /** Changes were missed: whatever is kept of the store is to be read again. `id` is ''. */
    | 'everything';
  readonly id: string;
}

export const EVERYTHING: Change = { entity: 'everything', id: '' };

/** Whether a listener that keeps rows of `entities` has to read them again. */
export function concerns(changes: readonly Change[], ...entities: readonly Change['entity'][]): boolean {
  return changes.some(({ entity }) => entity === 'everything' || entities.includes(entity));
}

export type Touch = (entity: Change['entity'], id: string) => void;

/** A database or a transaction of it: what a query function needs. */
export type Queries = Kysely<Database>;

export type StoreTransaction = Transaction<Database>;

export interface Store {
  /** Other processes may write too: what is cached here may be old by the next read. */
  readonly isShared: boolean;
  readonly lists: ListPages;
  /** SQL statements since the start, but for those that begin and end transactions. */
  readonly statementCount: number;
  /** Single statements. Never used inside a `transaction`: on the embedded database that waits for itself. */
  readonly db: Queries;
  /**
   * All or nothing, durable when it returns. No network waits inside. `touch` names what listeners must hear of.
   * `work` may run again when another process's transaction got in its way: it has no effects but on `trx`.
   */
  transaction<T>(work: (trx: StoreTransaction, touch: Touch) => Promise<T>): Promise<T>;
  /** Everything as of one moment, for `work` to read for as long as it takes; writers go on meanwhile. */
  snapshot<T>(work: (db: Queries) => Promise<T>): Promise<T>;
  /**
   * Listeners run in order after each commit, at this control plane's own changes and (PostgreSQL) at others'.
   * Changes of commits that came close together may be told in one call. After others' changes may have been missed,
   * and after the listener itself failed, it is told `EVERYTHING`.
   */
  onChange(listener: (changes: readonly Change[]) => Promise<void> | void): void;
  close(): Promise<void>;
}
