/**
 * The look-ups that every request of the Management API needs: the caller, and whether a frontdoor belongs to its
 * organization. On a shared database each one is a query, combined with others in one statement; on our own
 * database results are cached until they change.
 */
import { isUuid } from '#domain';
import { callerKey, findCallers, type CallerKind, type StoredCaller } from './account-store.ts';
import { grantFrontdoors, grantKey, type GrantedFrontdoor } from './frontdoor-store.ts';
import { RememberedLookup } from '../engine/remembered-lookup.ts';
import type { Store } from '../engine/store.ts';

/**
 * Replaces a text that is not an id, because such a text may be long, would be cached, and PostgreSQL may not
 * accept it.
 */
const NO_ID = '00000000-0000-0000-0000-000000000000';

type Answer<V> = V | undefined | Promise<V | undefined>;

export class AccessDirectory {
  readonly #callers: RememberedLookup<StoredCaller>;
  readonly #frontdoors: RememberedLookup<GrantedFrontdoor>;

  constructor(store: Pick<Store, 'db' | 'isShared' | 'onChange'>) {
    this.#callers = new RememberedLookup(store, ['caller', 'organization'], (keys) =>
      findCallers(store.db, keys),
    );
    this.#frontdoors = new RememberedLookup(store, ['frontdoor', 'organization'], (keys) =>
      grantFrontdoors(store.db, keys),
    );
  }

  /** Returns a caller that is not revoked. */
  caller(kind: CallerKind, id: string): Answer<StoredCaller> {
    return this.#callers.find(keyOf(kind, id));
  }

  /**
   * Called for a refusal after `asked`: makes one extra query for a caller that does not exist, so that the time
   * of the refusal does not show whether the result was cached.
   */
  async evenOut(kind: CallerKind, asked: Answer<StoredCaller>): Promise<void> {
    if (!(asked instanceof Promise)) await this.#callers.askAnew(keyOf(kind, NO_ID));
  }

  /** Returns undefined for a frontdoor that does not exist, and for one of another organization. */
  frontdoor(organizationId: string, frontdoorId: string): Answer<GrantedFrontdoor> {
    return this.#frontdoors.find(grantKey(organizationId, frontdoorId));
  }
}

function keyOf(kind: CallerKind, id: string): string {
  return callerKey(kind, isUuid(id) ? id : NO_ID);
}
