/**
 * API accounts and OAuth clients for authentication. A wrong secret, an unknown id and a revoked row are
 * indistinguishable and take the same steps.
 */
import type { Secrets } from '../../secrets/mod.ts';
import type { Queries } from '../engine/store.ts';

export type CallerKind = 'account' | 'client';

/** A stored caller of the Management API. */
export interface ApiCaller {
  readonly kind: CallerKind;
  readonly id: string;
  readonly organizationId: string;
  readonly scopes: readonly string[];
}

/** A caller with the data for verifying its secret. */
export interface StoredCaller {
  readonly caller: ApiCaller;
  readonly secretHmac: string;
  /** The secret before the last rotation, and until when it is accepted. */
  readonly previous: { readonly hmac: string; readonly untilMs: number } | undefined;
  /** For an account: whether its organization permits exchanging its token for a bearer token. */
  readonly mayExchange: boolean;
}

const NO_HMAC = '0'.repeat(64);

/** The key of a caller, because an account and a client could have the same id. */
export function callerKey(kind: CallerKind, id: string): string {
  return `${kind}:${id}`;
}

export function callerKindAndId(key: string): { readonly kind: CallerKind; readonly id: string } {
  const [kind, id] = key.split(':') as [CallerKind, string];
  return { kind, id };
}

/** Returns callers that are not revoked, by `callerKey`, with one statement per kind. */
export async function findCallers(
  db: Queries,
  keys: readonly string[],
): Promise<ReadonlyMap<string, StoredCaller>> {
  const idsOf = (kind: CallerKind): string[] =>
    keys.filter((key) => key.startsWith(`${kind}:`)).map((key) => key.slice(kind.length + 1));
  const [accountIds, clientIds] = [idsOf('account'), idsOf('client')];
  const [accounts, clients] = await Promise.all([
    accountIds.length === 0
      ? []
      : db
          .selectFrom('api_account')
          .innerJoin('organization', 'organization.id', 'api_account.organization_id')
          .selectAll('api_account')
          .select('organization.token_exchange')
          .where('api_account.id', 'in', accountIds)
          .where('api_account.revoked_at', 'is', null)
          .execute(),
    clientIds.length === 0
      ? []
      : db
          .selectFrom('oauth_client')
          .selectAll()
          .where('id', 'in', clientIds)
          .where('revoked_at', 'is', null)
          .execute(),
  ]);
  const found = new Map<string, StoredCaller>();
  for (const row of accounts) {
    const caller = callerOf('account', row);
    const mayExchange = row.token_exchange === 1;
    const { token_hmac: secretHmac } = row;
    found.set(callerKey('account', row.id), { caller, secretHmac, previous: previousOf(row), mayExchange });
  }
  for (const row of clients) {
    const caller = callerOf('client', row);
    const { secret_hmac: secretHmac } = row;
    const stored = { caller, secretHmac, previous: previousOf(row), mayExchange: true };
    found.set(callerKey('client', row.id), stored);
  }
  return found;
}

/** Returns the caller if the secret is correct. Takes the same time for a caller that does not exist. */
export function provenBySecret(
  secrets: Secrets,
  stored: StoredCaller | undefined,
  secret: string,
  nowMs: number,
): ApiCaller | undefined {
  const previous = stored?.previous;
  const previousHmac = previous !== undefined && nowMs < previous.untilMs ? previous.hmac : NO_HMAC;
  return secrets.matches(secret, stored?.secretHmac ?? NO_HMAC, previousHmac) ? stored?.caller : undefined;
}

function previousOf(row: { previous_hmac: string | null; previous_until: number | null }) {
  const { previous_hmac: hmac, previous_until: untilMs } = row;
  return hmac === null || untilMs === null ? undefined : { hmac, untilMs };
}

function callerOf(kind: CallerKind, row: { id: string; organization_id: string; scopes: string }): ApiCaller {
  return { kind, id: row.id, organizationId: row.organization_id, scopes: row.scopes.split(' ') };
}
