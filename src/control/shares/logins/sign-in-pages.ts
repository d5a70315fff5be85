/** The name and the logo that visitors of a share see where they sign in: what the organization has set for everyone to see. */
import type { SignInPageShown } from '#domain/gateway-shapes';
import { findSignInPage } from '../../credentials/people/mod.ts';
import type { ShareCatalog } from '../catalog/share-catalog.ts';
import type { Store } from '../../store/mod.ts';
import type { StoredGatewayAccess } from './gateway-access.ts';

export interface SignInPagesOptions {
  readonly store: Pick<Store, 'db'>;
  readonly catalog: Pick<ShareCatalog, 'get'>;
  readonly access: Pick<StoredGatewayAccess, 'organizationOf'>;
}

export class SignInPages {
  readonly #options: SignInPagesOptions;

  constructor(options: SignInPagesOptions) {
    this.#options = options;
  }

  /** A share that no longer exists, and a private one, have none. */
  async of(shareId: string): Promise<SignInPageShown> {
    const { store, catalog, access } = this.#options;
    const share = catalog.get(shareId);
    const organizationId =
      share?.shareMode === 'public' ? access.organizationOf(share.frontdoorId) : undefined;
    if (organizationId === undefined) return { title: null, logo: null };
    return findSignInPage(store.db, organizationId);
  }
}
