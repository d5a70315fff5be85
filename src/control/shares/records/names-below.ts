/**
 * Names of shares that lie below others, which a policy with `includeSubDomains` would reach. Such a policy and names of other
 * shares below never come together, whichever is first.
 */
import { FrontdoorError } from '#base';
import type { Share } from '#domain';
import { lockedByName, type Queries } from '../../store/mod.ts';
import { namesFrom } from './custom-host.ts';
import { findSharePolicy, storedPolicyOf } from './share-policy-store.ts';

/**
 * Throws `conflict` if other shares may have names below those of this one. Until the transaction ends, no other claims a
 * hostname.
 */
export async function checkNothingBelow(
  trx: Queries,
  share: Pick<Share, 'id' | 'frontdoorId' | 'frontends' | 'customHosts'>,
): Promise<void> {
  await lockedByName(trx, 'custom frontends');
  for (const { host } of [...share.frontends, ...share.customHosts])
    if (await hasNamesBelow(trx, share, host))
      throw conflict(
        `HSTS of ${host} must not include its subdomains, because other shares have names below it: leave out includeSubdomains`,
      );
}

/** Throws `conflict` if a policy with `includeSubDomains` would reach others below the domain, or reach the domain. */
export async function checkDomainReach(
  trx: Queries,
  hostname: string,
  share: Pick<Share, 'id' | 'frontdoorId'> | undefined,
): Promise<void> {
  const problem = await reachProblem(trx, hostname, share);
  if (problem !== undefined) throw conflict(`${hostname} cannot be added: ${problem}`);
}

/** Returns why a hostname cannot be served beside such a policy, in words. `share` has it as its domain. */
export async function reachProblem(
  trx: Queries,
  hostname: string,
  share: Pick<Share, 'id' | 'frontdoorId'> | undefined,
): Promise<string | undefined> {
  const rows = await trx
    .selectFrom('hostname_claim')
    .innerJoin('share_policy', 'share_policy.share_id', 'hostname_claim.share_id')
    .select(['hostname', 'data', 'password_hashes'])
    .where('hostname', 'in', namesFrom(hostname))
    .where('hostname_claim.share_id', '!=', share?.id ?? '')
    .where('proof', '!=', 'PENDING')
    .execute();
  const reaching = rows.find((row) => storedPolicyOf(row).policy.hsts?.includeSubdomains === true);
  if (reaching !== undefined) return `HSTS of ${reaching.hostname} includes its subdomains`;
  if (share === undefined) return undefined;
  const stored = await findSharePolicy(trx, share.id);
  if (stored?.policy.hsts?.includeSubdomains !== true) return undefined;
  return (await hasNamesBelow(trx, share, hostname))
    ? 'HSTS of the share includes subdomains, and other shares have names below it'
    : undefined;
}

async function hasNamesBelow(
  trx: Queries,
  { id, frontdoorId }: Pick<Share, 'id' | 'frontdoorId'>,
  host: string,
): Promise<boolean> {
  const zones = await trx.selectFrom('frontend').select('zone').execute();
  if (zones.some(({ zone }) => `.${zone.toLowerCase()}`.endsWith(`.${host}`))) return true;
  const claimed = await trx
    .selectFrom('hostname_claim')
    .select('id')
    .where((where) => where.or([where('hostname', '=', host), where('hostname', 'like', `%.${host}`)]))
    // The domains of the share itself are under its policy.
    .where((where) => where.or([where('share_id', 'is', null), where('share_id', '!=', id)]))
    // What another frontdoor claims without a proof blocks nobody.
    .where((where) => where.or([where('proof', '!=', 'PENDING'), where('frontdoor_id', '=', frontdoorId)]))
    .limit(1)
    .executeTakeFirst();
  return claimed !== undefined;
}

function conflict(message: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', message);
}
