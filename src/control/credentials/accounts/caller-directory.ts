/**
 * Looks up the callers of the Management API, which every request needs. On a shared database each look-up is a query,
 * combined with others in one statement; on our own database results are cached until they change.
 */
import { isUuid } from '#domain';
import { callerKey, findCallers, type CallerKind, type StoredCaller } from './account-store.ts';
import { RememberedLookup, type Remembered, type Store } from '../../store/mod.ts';

/**
 * Replaces a text that is not an id, because such a text may be long, would be cached, and PostgreSQL may not
 * accept it.
 */
const NO_ID = '00000000-0000-0000-0000-000000000000';

export class CallerDirectory {
  readonly #callers: RememberedLookup<StoredCaller>;

  constructor(store: Pick<Store, 'db' | 'isShared' | 'onChange'>) {
    this.#callers = new RememberedLookup(store, ['caller', 'organization'], (keys) =>
      findCallers(store.db, keys),
    );
  }

  /** Returns a caller that is not revoked. */
  caller(kind: CallerKind, id: string): Remembered<StoredCaller> {
    return this.#callers.find(keyOf(kind, id));
  }

  /**
   * Called for a refusal after `asked`: makes one extra query for a caller that does not exist, so that the time
   * of the refusal does not show whether the result was cached.
   */
  async evenOut(kind: CallerKind, asked: Remembered<StoredCaller>): Promise<void> {
    if (!(asked instanceof Promise)) await this.#callers.askAnew(keyOf(kind, NO_ID));
  }
}

function keyOf(kind: CallerKind, id: string): string {
  return callerKey(kind, isUuid(id) ? id : NO_ID);
}
