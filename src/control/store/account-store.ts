/**
 * API accounts and OAuth clients by their ids. A wrong secret, an unknown id and a revoked row look alike and take the
 * same steps.
 */
import type { Secrets } from '../secrets/secrets.ts';
import type { Queries } from './store.ts';

export type CallerKind = 'account' | 'client';

/** Who may call the Management API, as stored. */
export interface Caller {
  readonly kind: CallerKind;
  readonly id: string;
  readonly organizationId: string;
  readonly scopes: readonly string[];
}

const NO_HMAC = '0'.repeat(64);

/** The account of this id and token. */
export async function findAccount(
  db: Queries,
  secrets: Secrets,
  id: string,
  token: string,
): Promise<Caller | undefined> {
  const row = await db.selectFrom('api_account').selectAll().where('id', '=', id).executeTakeFirst();
  const matches = secrets.matches(token, row?.token_hmac ?? NO_HMAC);
  return row === undefined || !matches || row.revoked_at !== null ? undefined : callerOf('account', row);
}

/**
 * Who may exchange this id and secret for a bearer token: an OAuth client, or an API account of an organization that
 * allows it.
 */
export async function findTokenClient(
  db: Queries,
  secrets: Secrets,
  id: string,
  secret: string,
): Promise<Caller | undefined> {
  const client = await db.selectFrom('oauth_client').selectAll().where('id', '=', id).executeTakeFirst();
  const account = await db
    .selectFrom('api_account')
    .innerJoin('organization', 'organization.id', 'api_account.organization_id')
    .selectAll('api_account')
    .where('api_account.id', '=', id)
    .where('organization.token_exchange', '=', 1)
    .executeTakeFirst();
  const matches = secrets.matches(secret, client?.secret_hmac ?? account?.token_hmac ?? NO_HMAC);
  if (!matches) return undefined;
  if (client !== undefined) return client.revoked_at === null ? callerOf('client', client) : undefined;
  return account === undefined || account.revoked_at !== null ? undefined : callerOf('account', account);
}

/** A caller by its id, if it is not revoked: bearer tokens of one that is are worth nothing. */
export async function findCaller(db: Queries, kind: CallerKind, id: string): Promise<Caller | undefined> {
  const row = await db
    .selectFrom(kind === 'account' ? 'api_account' : 'oauth_client')
    .select(['id', 'organization_id', 'scopes'])
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row === undefined ? undefined : callerOf(kind, row);
}

function callerOf(kind: CallerKind, row: { id: string; organization_id: string; scopes: string }): Caller {
  return { kind, id: row.id, organizationId: row.organization_id, scopes: row.scopes.split(' ') };
}
