/** The authenticators of an identity, and their shape in OpenZiti's client API. */
import { definedFields } from '#base';
import type { Identity } from '../../overlay/model/mod.ts';
import { INTERMEDIATE as FIRST_INTERMEDIATE, type Pki } from '../../pki/mod.ts';
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
  const certificates = await db
    .selectFrom('certificate')
    .select(['fingerprint', 'authority_id', 'issuer', 'created_at'])
    .where('identity_id', '=', identityId)
    .orderBy('created_at')
    .orderBy('fingerprint')
    .execute();
  const passwords = await db
    .selectFrom('identity_password')
    .select(['username', 'created_at', 'updated_at'])
    .where('identity_id', '=', identityId)
    .execute();
  return [
    ...certificates.map(({ fingerprint, authority_id, issuer, created_at }) => ({
      isOurs: authority_id === null,
      issuer: authority_id === null ? (issuer ?? FIRST_INTERMEDIATE) : undefined,
      ...{ id: fingerprint, method: 'cert' as const, fingerprint },
      ...{ createdAtMs: created_at, updatedAtMs: created_at },
    })),
    ...passwords.map(({ username, created_at, updated_at }) => ({
      ...{ id: passwordAuthenticatorId({ id: identityId }), method: 'updb' as const, username },
      ...{ createdAtMs: created_at, updatedAtMs: updated_at },
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
