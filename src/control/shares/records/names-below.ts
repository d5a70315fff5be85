/** Names of shares that lie below others, which a policy with `includeSubDomains` would reach. */
import { FrontdoorError } from '#base';
import type { Share } from '#domain';
import type { Queries } from '../../store/mod.ts';

/** Throws `conflict` if other shares may have names below those of this one. */
export async function checkNothingBelow(
  trx: Queries,
  { frontends, customHosts }: Pick<Share, 'frontends' | 'customHosts'>,
): Promise<void> {
  const zones = await trx.selectFrom('frontend').select('zone').execute();
  for (const { host } of [...frontends, ...customHosts]) {
    const isBelow = (zone: string): boolean => zone === host || zone.endsWith(`.${host}`);
    const custom = await trx
      .selectFrom('hostname_claim')
      .select('id')
      .where((where) => where.or([where('hostname', '=', host), where('hostname', 'like', `%.${host}`)]))
      .limit(1)
      .executeTakeFirst();
    if (custom === undefined && !zones.some(({ zone }) => isBelow(zone.toLowerCase()))) continue;
    throw new FrontdoorError(
      'conflict',
      'conflict',
      `HSTS of ${host} must not include its subdomains, because other shares have names below it: leave out includeSubdomains`,
    );
  }
}
