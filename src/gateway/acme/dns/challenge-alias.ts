/** Follows the aliases (CNAME) of a challenge's name, by which the owner of a zone delegates the record to another one. */
import type { Resolver } from 'node:dns/promises';
import { openDnsResolver } from '../txt-record.ts';
import { providerFailure } from './dns-provider.ts';

/** Resolvers give up after about as many. */
const MAX_ALIASES = 8;

/**
 * Returns the name at the end of the aliases, without a dot at its end. A name whose alias cannot be looked up counts as
 * one without. Rejects for a loop.
 */
export async function nameBehindAliases(
  name: string,
  resolver: Pick<Resolver, 'resolveCname'>,
): Promise<string> {
  let target = name;
  for (let followed = 0; followed <= MAX_ALIASES; followed += 1) {
    const alias = await aliasOf(target, resolver);
    if (alias === undefined) return target;
    target = alias;
  }
  throw providerFailure(
    `the alias (CNAME) of ${name} leads through more than ${MAX_ALIASES} names, or in a circle`,
  );
}

/** Whether the owner of a host delegates the record of its challenge. `servers`: those to ask; without any, those of the system. */
export async function isDelegated(host: string, servers: readonly string[]): Promise<boolean> {
  return (await aliasOf(`_acme-challenge.${host}`, openDnsResolver(servers))) !== undefined;
}

async function aliasOf(name: string, resolver: Pick<Resolver, 'resolveCname'>): Promise<string | undefined> {
  try {
    const [alias] = await resolver.resolveCname(name);
    return alias?.toLowerCase().replace(/\.$/, '');
  } catch {
    return undefined;
  }
}
