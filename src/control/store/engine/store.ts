/**
 * The interface of the store: typed queries, and transactions whose changes are reported to listeners after the
 * commit and before the writer continues, so that an acknowledged write is in effect.
 */
import type { Kysely, Transaction } from 'kysely';
import type { ListPages } from './list-pages.ts';
import type { Database } from '../schema/schema.ts';

/** A changed entity. Listeners read the rows again; a missing row was deleted. */
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
    /** `id` is the session that has ended. */
    | 'session-revocation'
    | 'terminator'
    | 'fabric-service'
    | 'fabric-terminator'
    | 'custom-frontend'
    /** A claimed hostname, whose proof may be due. Gateways serve the same names as before. */
    | 'hostname-claim'
    /** An entity of the edge management API. */
    | 'edge-entity'
    /** A session at a share that has ended. */
    | 'login-session'
    /** A notification is due; `id` is its destination. */
    | 'notification'
    /** `id` is the replica. */
    | 'replica'
    /** What readers of streams of changes see; `id` is written by `touchResource`. */
    | 'resource'
    /** Changes were missed, so everything derived from the store must be read again. `id` is ''. */
    | 'everything';
  readonly id: string;
}

export const EVERYTHING: Change = { entity: 'everything', id: '' };

/** Whether a listener that caches rows of `entities` must read them again. */
export function concerns(changes: readonly Change[], ...entities: readonly Change['entity'][]): boolean {
  return changes.some(({ entity }) => entity === 'everything' || entities.includes(entity));
}

export type Touch = (entity: Change['entity'], id: string) => void;

/** A database or a transaction of it: the argument of query functions. */
export type Queries = Kysely<Database>;

export type StoreTransaction = Transaction<Database>;

export interface Store {
  /** Whether other processes may write too, so that caches can be outdated at the next read. */
  readonly isShared: boolean;
  readonly lists: ListPages;
  /** SQL statements since the start, except those that begin and end transactions. */
  readonly statementCount: number;
  /**
   * For single statements. Must not be used inside a `transaction`: on the embedded database that would wait for
   * itself.
   */
  readonly db: Queries;
  /**
   * All or nothing, and durable when it resolves. `work` must not wait for the network. `touch` names the changed
   * entities. `work` may run again after a conflict with another process's transaction, so it must have no
   * effects except on `trx`.
   */
  transaction<T>(work: (trx: StoreTransaction, touch: Touch) => Promise<T>): Promise<T>;
  /** Everything as of one moment, for `work` to read for any time while writers continue. */
  snapshot<T>(work: (db: Queries) => Promise<T>): Promise<T>;
  /**
   * Calls the listener after each commit of this control plane and (PostgreSQL) of others. Changes of commits in
   * quick succession may be combined in one call. After changes of others may have been missed, and after the
   * listener itself failed, it gets `EVERYTHING`.
   */
  onChange(listener: (changes: readonly Change[]) => Promise<void> | void): void;
  /**
   * Resolves when the listeners have handled all commits before this call, those of other control planes included, or
   * after some seconds if the database does not answer.
   */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}
