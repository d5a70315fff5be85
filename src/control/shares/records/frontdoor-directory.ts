/** Looks up whether a frontdoor belongs to a caller's organization, which every request of the Management API needs. */
import { grantFrontdoors, grantKey, type GrantedFrontdoor } from './frontdoor-store.ts';
import { RememberedLookup, type Remembered, type Store } from '../../store/mod.ts';

export class FrontdoorDirectory {
  readonly #frontdoors: RememberedLookup<GrantedFrontdoor>;

  constructor(store: Pick<Store, 'db' | 'isShared' | 'onChange'>) {
    this.#frontdoors = new RememberedLookup(store, ['frontdoor', 'organization'], (keys) =>
      grantFrontdoors(store.db, keys),
    );
  }

  /** Returns undefined for a frontdoor that does not exist, and for one of another organization. */
  find(organizationId: string, frontdoorId: string): Remembered<GrantedFrontdoor> {
    return this.#frontdoors.find(grantKey(organizationId, frontdoorId));
  }
}
