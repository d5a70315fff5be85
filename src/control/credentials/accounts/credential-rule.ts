/**
 * The rule for all that a credential opened: it ends with the credential (ADR 0059). Sessions, bearer tokens, invitations and
 * links keep a text that names the credential of their maker, and each use checks here whether that credential is still in
 * force. Nothing has to be deleted where a credential ends, and nothing can be forgotten there.
 */
import { sql, type RawBuilder } from 'kysely';
import { includesScope, ROLE_SCOPES, ROLES, type Role } from '#domain';
import { lockedForShare, type Queries } from '../../store/mod.ts';
import { isOfPresentProvider, PROVIDER } from './console-provider.ts';

/**
 * The caller that made something, and its credential. `system` is the installation itself, at its first start or with its data
 * directory; `issuer` is a caller with a token of a trusted issuer, whose configuration is not stored.
 */
export interface MakerIdentity {
  readonly kind: 'account' | 'client' | 'person' | 'issuer' | 'system';
  /** `<issuer>#<sub>` for a caller of a trusted issuer. */
  readonly id: string;
  readonly credential: string;
}

/** What a maker may do now. */
export interface PresentRights {
  readonly scopes: readonly string[];
  /** Undefined: not limited to one. */
  readonly organizationId: string | undefined;
}

export interface RuleParts {
  /** What the configuration lets callers of a trusted issuer have, by the id of the caller; undefined: it is not trusted. */
  readonly scopesOfIssuer: (id: string) => readonly string[] | undefined;
  readonly nowMs: number;
}

export const THE_INSTALLATION: MakerIdentity = { kind: 'system', id: 'system', credential: 'system' };
export const ISSUER_CREDENTIAL = 'issuer';

export function secretCredential(secretId: string): string {
  return `secret ${secretId}`;
}

/** `version` is that of the provider, which changes when its accounts may be those of other people. */
export function providerCredential(logInId: string, version: number): string {
  return `${PROVIDER}${logInId} ${version}`;
}

/** Names the password of a person, and with `hasFactor` the second factor, too. Returns null for a person without them. */
export async function passwordCredential(
  db: Queries,
  personId: string,
  hasFactor: boolean,
): Promise<string | null> {
  const row = await db
    .selectFrom('person_password')
    .leftJoin('person_totp', 'person_totp.person_id', 'person_password.person_id')
    .select(['person_password.updated_at', 'person_totp.enrolled_at'])
    .where('person_password.person_id', '=', personId)
    .executeTakeFirst();
  if (row === undefined || (hasFactor && row.enrolled_at === null)) return null;
  return hasFactor ? `factor ${row.updated_at} ${row.enrolled_at}` : `password ${row.updated_at}`;
}

type Text = RawBuilder<string | null>;

/** Whether the credential is in force: the condition for a row with these columns. */
export function inForce(kind: Text, id: Text, credential: Text, nowMs: number): RawBuilder<boolean> {
  return sql<boolean>`(case ${kind}
    when 'person' then ${isOfPerson(id, credential)}
    when 'account' then ${isSecretOf('api_account', id, credential, nowMs)}
    when 'client' then ${isSecretOf('oauth_client', id, credential, nowMs)}
    else ${kind} in ('issuer', 'system') end)`;
}

/** Nobody changes the maker's row until the transaction ends. Returns undefined if the credential has ended. */
export async function presentRights(
  trx: Queries,
  { kind, id, credential }: MakerIdentity,
  { scopesOfIssuer, nowMs }: RuleParts,
): Promise<PresentRights | undefined> {
  if (kind === 'system') return { scopes: ROLE_SCOPES.operator, organizationId: undefined };
  if (kind === 'issuer') {
    const scopes = scopesOfIssuer(id);
    return scopes && { scopes, organizationId: undefined };
  }
  const row = await (kind === 'person' ? lockedPerson(trx, id) : lockedCaller(trx, kind, id));
  // Read after the lock, so that it is as the last change left it.
  const [ofKind, ofId, ofCredential] = [kind, id, credential].map(
    (text) => sql<string>`cast(${text} as text)`,
  );
  const isInForce = inForce(ofKind!, ofId!, ofCredential!, nowMs);
  const { rows } = await sql`select 1 as one where ${isInForce}`.execute(trx);
  return rows.length === 0 ? undefined : row;
}

/** The scope that invitations and links for people need. */
const SCOPE = 'frontdoor.organization';

/** Whether the maker could make an invitation or a link now that gives someone the role in the organization. */
export async function mayStillGive(
  trx: Queries,
  maker: MakerIdentity,
  { organizationId, role }: { readonly organizationId: string; readonly role: Role | null },
  parts: RuleParts,
): Promise<boolean> {
  const rights = await presentRights(trx, maker, parts);
  if (rights === undefined) return false;
  const isReached = [undefined, organizationId].includes(rights.organizationId);
  if (!isReached && !rights.scopes.includes('frontdoor.admin')) return false;
  return [SCOPE, ...scopesOf(role)].every((scope) => includesScope(rights.scopes, scope));
}

/** Role of a person and role that it may give, with a space between them. */
const GIVEN = ROLES.filter((own) => includesScope(ROLE_SCOPES[own], SCOPE)).flatMap((own) =>
  ROLES.filter((role) => ROLE_SCOPES[role].every((scope) => includesScope(ROLE_SCOPES[own], scope))).map(
    (role) => `${own} ${role}`,
  ),
);

/** Whether a maker that is a person has a role with which it may give `role`: the condition for a row with these columns. */
export function isGivenByRole(kind: Text, id: Text, role: Text): RawBuilder<boolean> {
  return sql<boolean>`(${kind} <> 'person' or exists (select 1 from person as maker
    where maker.id = ${id} and maker.role || ' ' || ${role} in (${sql.join(GIVEN)})))`;
}

/** The maker that a row names. */
export function makerOf(kind: string, id: string, credential: string): MakerIdentity {
  return { kind: kind as MakerIdentity['kind'], id, credential };
}

async function lockedPerson(trx: Queries, id: string): Promise<PresentRights | undefined> {
  const query = trx.selectFrom('person').select(['role', 'organization_id']).where('id', '=', id);
  const row = await lockedForShare(trx, query).executeTakeFirst();
  return row && { scopes: scopesOf(row.role), organizationId: row.organization_id };
}

async function lockedCaller(
  trx: Queries,
  kind: 'account' | 'client',
  id: string,
): Promise<PresentRights | undefined> {
  const table = kind === 'account' ? 'api_account' : 'oauth_client';
  const query = trx.selectFrom(table).select(['scopes', 'organization_id']).where('id', '=', id);
  const row = await lockedForShare(trx, query).executeTakeFirst();
  return row && { scopes: row.scopes.split(' '), organizationId: row.organization_id };
}

function scopesOf(role: Role | null): readonly string[] {
  return role === null ? [] : ROLE_SCOPES[role];
}

function isSecretOf(
  table: 'api_account' | 'oauth_client',
  id: Text,
  credential: Text,
  nowMs: number,
): RawBuilder<boolean> {
  return sql<boolean>`exists (select 1 from ${sql.table(table)} as caller
    where caller.id = ${id} and caller.revoked_at is null
      and (${credential} = 'secret ' || caller.secret_id
        or (caller.previous_until > ${nowMs} and ${credential} = 'secret ' || caller.previous_id)))`;
}

function isOfPerson(id: Text, credential: Text): RawBuilder<boolean> {
  return sql<boolean>`(exists (select 1 from person_password as own
      left join person_totp as factor on factor.person_id = own.person_id
      where own.person_id = ${id} and (${credential} = 'password ' || cast(own.updated_at as text)
        or ${credential} = 'factor ' || cast(own.updated_at as text) || ' ' || cast(factor.enrolled_at as text)))
    or (exists (select 1 from person where person.id = ${id}) and ${isOfPresentProvider(credential)}))`;
}
