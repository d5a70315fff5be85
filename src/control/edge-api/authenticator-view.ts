/** The authenticators of an identity in the shape of OpenZiti's client API. */
import type { Identity } from '../model/mod.ts';
import { isoTime, linked } from './service-view.ts';

export interface CertificateRow {
  /** The certificate's fingerprint. */
  readonly id: string;
  readonly createdAtMs: number;
}

/** Certificates are named by their fingerprint; only that is kept of them. */
export function certificateAuthenticatorView(
  { id, createdAtMs }: CertificateRow,
  identity: Identity,
): Record<string, unknown> {
  const createdAt = isoTime(createdAtMs);
  return {
    _links: { self: { href: `./current-identity/authenticators/${id}` } },
    id,
    createdAt,
    updatedAt: createdAt,
    tags: {},
    method: 'cert',
    identityId: identity.id,
    identity: linked('identities', identity.id, identity.name),
    fingerprint: id,
    isIssuedByNetwork: true,
    isExtendRequested: false,
    isKeyRollRequested: false,
  };
}
