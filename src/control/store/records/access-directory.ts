/**
 * What every request of the Management API asks the store: who calls, and whether a frontdoor is its organization's.
 * On a shared database each answer is read anew, many in one statement; on our own it is remembered until it changes.
 */
import { isUuid } from '#domain';
import { callerKey, findCallers, type CallerKind, type StoredCaller } from './account-store.ts';
import { grantFrontdoors, grantKey, type GrantedFrontdoor } from './frontdoor-store.ts';
import { RememberedLookup } from '../engine/remembered-lookup.ts';
import type { Store } from '../engine/store.ts';

/** Stands in for what is no id: that may be long, is remembered like any other, and PostgreSQL may not take it. */
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

  /** A caller that is not revoked. */
  caller(kind: CallerKind, id: string): Answer<StoredCaller> {
    return this.#callers.find(keyOf(kind, id));
  }

  /**
   * For a refusal after `asked`: the store is read once for each, for somebody who is not there, whoever is remembered.
   * How soon it comes would tell who is.
   */
  async evenOut(kind: CallerKind, asked: Answer<StoredCaller>): Promise<void> {
    if (!(asked instanceof Promise)) await this.#callers.askAnew(keyOf(kind, NO_ID));
  }

  /** Undefined alike for a frontdoor that does not exist and for one of another organization. */
  frontdoor(organizationId: string, frontdoorId: string): Answer<GrantedFrontdoor> {
    return this.#frontdoors.find(grantKey(organizationId, frontdoorId));
  }
}

function keyOf(kind: CallerKind, id: string): string {
  return callerKey(kind, isUuid(id) ? id : NO_ID);
}
