/**
 * Policies of shares whose rules decide nothing, or refuse everyone, with the providers that guard the shares now. Rules
 * about people need a provider that proves people; changes that take the last one away are refused here.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { FrontdoorError } from '#base';
import type { Share } from '#domain';
import { AUTH_PROVIDER_TYPES, LOGIN_TYPES_TEXT, provesPeople } from '#domain/provider-types';
import {
  closedToPeopleMessage,
  dependsOnPeople,
  hasPeopleRules,
  isClosedToPeople,
  policyWarningsOf,
  type PolicyWarning,
  type WarnedShare,
} from '../policy/policy-warnings.ts';
import type { StoredPolicy } from '../policy/stored-policy.ts';
import type { Queries } from '../../store/mod.ts';
import { APPLYING, applyingPolicyOf } from './share-policy-store.ts';
import { shareRecordOf } from './share-record.ts';
import { relationsOf } from './share-relations.ts';

const SHARES_PER_TURN = 200;
const PROVING_TYPES = AUTH_PROVIDER_TYPES.filter(provesPeople);
/** A refusal names at most this many shares. */
const MOST_NAMED = 10;

type GuardedNames = Pick<Share, 'token' | 'shareMode' | 'frontends' | 'customHosts' | 'authProviderIds'>;

export interface WarnedPolicy {
  readonly frontdoorId: string;
  readonly token: string;
  readonly warnings: readonly PolicyWarning[];
}

/** The warnings about the policy of one share. */
export async function warningsOfPolicy(
  db: Queries,
  share: GuardedNames,
  stored: StoredPolicy | undefined,
): Promise<PolicyWarning[]> {
  if (stored === undefined) return [];
  const warned = warnedShareOf(share);
  const provers = dependsOnPeople(stored) ? await proversAmong(db, [warned]) : new Set<string>();
  return policyWarningsOf(stored, warned, provers);
}

/** All shares with a warning, of a frontdoor or of the installation, by id. Other work is done between slices. */
export async function* warnedPolicies(db: Queries, frontdoorId?: string): AsyncGenerator<WarnedPolicy> {
  let after = '';
  for (;;) {
    const rows = await policyRows(db, frontdoorId, after);
    const shares = (await relationsOf(db, rows)).map(({ row, relations }) => ({
      share: warnedShareOf(shareRecordOf({ row, relations })),
      stored: applyingPolicyOf(row)!,
      frontdoorId: row.frontdoor_id,
    }));
    const provers = await proversAmong(
      db,
      shares.map(({ share }) => share),
    );
    for (const { share, stored, frontdoorId: owner } of shares) {
      const warnings = policyWarningsOf(stored, share, provers);
      if (warnings.length > 0) yield { frontdoorId: owner, token: share.token, warnings };
    }
    if (rows.length < SHARES_PER_TURN) return;
    after = rows.at(-1)!.id;
    await nextTurn();
  }
}

/** Throws `conflict` if the rules about people of the policy would admit nobody at the share. */
export async function checkPeopleProvable(
  trx: Queries,
  share: GuardedNames,
  stored: StoredPolicy | undefined,
): Promise<void> {
  if (stored === undefined || !hasPeopleRules(stored)) return;
  const warned = warnedShareOf(share);
  if (isClosedToPeople(stored, warned, await proversAmong(trx, [warned])))
    throw admitsNobody(closedToPeopleMessage(share.token));
}

/** Throws `conflict` if shares need this provider, of their own, to prove people. */
export async function checkNotNeededForPeople(trx: Queries, providerId: string): Promise<void> {
  const others = trx
    .selectFrom('share_auth_provider as other')
    .innerJoin('auth_provider', 'auth_provider.id', 'other.auth_provider_id')
    .select('other.share_id')
    .where('other.share_id', '=', sql.ref<string>('share.id'))
    .where('auth_provider.id', '!=', providerId)
    .where('auth_provider.type', 'in', PROVING_TYPES);
  const rows = await trx
    .selectFrom('share_auth_provider')
    .innerJoin('share', 'share.id', 'share_auth_provider.share_id')
    .leftJoin('share_policy', 'share_policy.share_id', 'share.id')
    .leftJoin('access_policy', 'access_policy.id', 'share.policy_id')
    .select('share.token')
    .select(APPLYING)
    .where('share_auth_provider.auth_provider_id', '=', providerId)
    .where('share.share_mode', '=', 'public')
    .where(({ not, exists }) => not(exists(others)))
    .orderBy('share.token')
    .execute();
  const tokens = rows
    .filter((row) => {
      const applying = applyingPolicyOf(row);
      return applying !== undefined && hasPeopleRules(applying);
    })
    .map(({ token }) => token);
  if (tokens.length === 0) return;
  const named = tokens.slice(0, MOST_NAMED).join(', ');
  const more = tokens.length > MOST_NAMED ? ` and ${tokens.length - MOST_NAMED} others` : '';
  throw admitsNobody(
    `Shares have rules about people (emails, claims) that only this auth provider proves: ${named}${more}. First give them another provider of type ${LOGIN_TYPES_TEXT}, or remove these rules`,
  );
}

function admitsNobody(message: string): FrontdoorError {
  return new FrontdoorError('conflict', 'policy-admits-nobody', message);
}

function policyRows(db: Queries, frontdoorId: string | undefined, after: string) {
  const rows = db
    .selectFrom('share')
    .leftJoin('share_policy', 'share_policy.share_id', 'share.id')
    .leftJoin('access_policy', 'access_policy.id', 'share.policy_id')
    .selectAll('share')
    .select(APPLYING)
    .where((where) =>
      where.or([where('share.policy_id', 'is not', null), where('share_policy.share_id', 'is not', null)]),
    )
    .where('share.id', '>', after)
    .orderBy('share.id')
    .limit(SHARES_PER_TURN);
  return (frontdoorId === undefined ? rows : rows.where('share.frontdoor_id', '=', frontdoorId)).execute();
}

function warnedShareOf({
  token,
  shareMode,
  frontends,
  customHosts,
  authProviderIds,
}: GuardedNames): WarnedShare {
  const own = frontends.map(({ host }) => ({ host, authProviderIds }));
  return { token, isPrivate: shareMode === 'private', names: [...own, ...customHosts] };
}

async function proversAmong(db: Queries, shares: readonly WarnedShare[]): Promise<ReadonlySet<string>> {
  const ids = new Set(shares.flatMap(({ names }) => names.flatMap(({ authProviderIds }) => authProviderIds)));
  if (ids.size === 0) return ids;
  const rows = await db
    .selectFrom('auth_provider')
    .select('id')
    .where('id', 'in', [...ids])
    .where('type', 'in', PROVING_TYPES)
    .execute();
  return new Set(rows.map(({ id }) => id));
}
