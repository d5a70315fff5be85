/** The authenticators of an identity, and their shape in OpenZiti's client API. */
import { definedFields } from '#base';
import type { Identity } from '../../overlay/model/mod.ts';
import { INTERMEDIATE as FIRST_INTERMEDIATE, type Pki } from '../../pki/mod.ts';
import { userNames } from '../../credentials/identities/mod.ts';
import { certificatesOf } from '../../overlay/records/mod.ts';
import type { Queries } from '../../store/mod.ts';
import { isoTime, linked } from './service-view.ts';

export interface AuthenticatorRow {
  /** A certificate is named by its fingerprint, of which alone a copy is kept. */
  readonly id: string;
  readonly method: 'cert' | 'updb';
  readonly fingerprint?: string;
  readonly username?: string;
  /** Whether our authority issued the certificate. */
  readonly isOurs?: boolean;
  /** The name of our intermediate that issued it. */
  readonly issuer?: string | undefined;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** An identity has at most one password. */
export function passwordAuthenticatorId({ id }: Pick<Identity, 'id'>): string {
  return `updb.${id}`;
}

/** Returns the certificates, the oldest first, then the password. */
export async function authenticatorsOf(db: Queries, identityId: string): Promise<AuthenticatorRow[]> {
  const certificates = await certificatesOf(db, identityId);
  const passwords = await userNames(db, identityId);
  return [
    ...certificates.map(({ fingerprint, authorityId, issuer, createdAtMs }) => ({
      isOurs: authorityId === null,
      issuer: authorityId === null ? (issuer ?? FIRST_INTERMEDIATE) : undefined,
      id: fingerprint,
      method: 'cert' as const,
      fingerprint,
      createdAtMs,
      updatedAtMs: createdAtMs,
    })),
    ...passwords.map(({ username, createdAtMs, updatedAtMs }) => ({
      id: passwordAuthenticatorId({ id: identityId }),
      method: 'updb' as const,
      username,
      createdAtMs,
      updatedAtMs,
    })),
  ];
}

export function authenticatorView(
  row: AuthenticatorRow,
  identity: Identity,
  { isReplaced }: Pick<Pki, 'isReplaced'>,
): Record<string, unknown> {
  const { id, method, fingerprint, username, isOurs } = row;
  const ofCertificate = {
    isIssuedByNetwork: isOurs,
    isExtendRequested: isReplaced(row.issuer),
    isKeyRollRequested: false,
  };
  return {
    _links: { self: { href: `./current-identity/authenticators/${id}` } },
    id,
    createdAt: isoTime(row.createdAtMs),
    updatedAt: isoTime(row.updatedAtMs),
    tags: {},
    method,
    identityId: identity.id,
    identity: linked('identities', identity.id, identity.name),
    ...definedFields({ fingerprint, username }),
    ...(method === 'cert' ? ofCertificate : {}),
  };
}
