/**
 * API accounts and OAuth clients for authentication. A wrong secret, an unknown id and a revoked row are
 * indistinguishable and take the same steps.
 */
import type { Secrets } from '../../secrets/mod.ts';
import type { Queries } from '../../store/mod.ts';
import { secretCredential } from './credential-rule.ts';

export type CallerKind = 'account' | 'client';

/** A stored caller of the Management API. */
export interface ApiCaller {
  readonly kind: CallerKind;
  readonly id: string;
  readonly organizationId: string;
  readonly scopes: readonly string[];
}

/** A caller that has shown a secret. */
export interface ProvenCaller extends ApiCaller {
  /** Names the secret: what the caller opens ends with it. */
  readonly credential: string;
}

/** A caller with the data for verifying its secret. */
export interface StoredCaller {
  readonly caller: ApiCaller;
  readonly secretHmac: string;
  readonly secretId: string;
  /** The secret before the last rotation, and until when it is accepted. */
  readonly previous: PreviousSecret | undefined;
  /** For an account: whether its organization permits exchanging its token for a bearer token. */
  readonly mayExchange: boolean;
}

interface PreviousSecret {
  readonly hmac: string;
  readonly untilMs: number;
  readonly secretId: string;
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
    const { token_hmac: secretHmac, secret_id: secretId } = row;
    const stored = { caller, secretHmac, secretId, previous: previousOf(row), mayExchange };
    found.set(callerKey('account', row.id), stored);
  }
  for (const row of clients) {
    const caller = callerOf('client', row);
    const { secret_hmac: secretHmac, secret_id: secretId } = row;
    const stored = { caller, secretHmac, secretId, previous: previousOf(row), mayExchange: true };
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
): ProvenCaller | undefined {
  const previous = livePrevious(stored, nowMs);
  const isOne = secrets.matches(secret, stored?.secretHmac ?? NO_HMAC, previous?.hmac ?? NO_HMAC);
  if (stored === undefined || !isOne) return undefined;
  const isPrevious = previous !== undefined && secrets.matches(secret, previous.hmac);
  const secretId = isPrevious ? previous.secretId : stored.secretId;
  return { ...stored.caller, credential: secretCredential(secretId) };
}

/** Whether the text names the caller's secret, or the one before it in its overlap. */
export function hasCredential(stored: StoredCaller, credential: string, nowMs: number): boolean {
  const names = [stored.secretId, livePrevious(stored, nowMs)?.secretId];
  return names.some((secretId) => secretId !== undefined && credential === secretCredential(secretId));
}

function livePrevious(stored: StoredCaller | undefined, nowMs: number): PreviousSecret | undefined {
  const previous = stored?.previous;
  return previous !== undefined && nowMs < previous.untilMs ? previous : undefined;
}

function previousOf(row: {
  previous_hmac: string | null;
  previous_id: string | null;
  previous_until: number | null;
}): PreviousSecret | undefined {
  const { previous_hmac: hmac, previous_until: untilMs, previous_id: secretId } = row;
  return hmac === null || untilMs === null || secretId === null ? undefined : { hmac, untilMs, secretId };
}

function callerOf(kind: CallerKind, row: { id: string; organization_id: string; scopes: string }): ApiCaller {
  return { kind, id: row.id, organizationId: row.organization_id, scopes: row.scopes.split(' ') };
}
