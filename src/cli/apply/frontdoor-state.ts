/** What a frontdoor has now, as far as a file concerns it: every name, and the settings of the entries that the file names. */
import { FrontdoorError } from '#base';
import type { FrontdoorFile } from '#contract/schemas';
import type { ManagementClient } from '../management-client.ts';
import { entriesOf, pagesOf, type Entry } from '../operations/list-pages.ts';

/** A resource with its entity tag. */
export interface Standing {
  readonly value: Entry;
  readonly entityTag: string | undefined;
}

export interface StandingShare {
  readonly share: Standing;
  readonly policy: Standing;
  readonly upstream: Standing;
  /** In lower case; empty unless the file has domains of it. */
  readonly domains: readonly string[];
}

export interface FrontdoorState {
  readonly providers: readonly Entry[];
  readonly frontends: readonly Entry[];
  readonly environments: readonly Entry[];
  readonly policies: readonly Entry[];
  readonly customFrontends: readonly Entry[];
  readonly shares: readonly Entry[];
  /** By name, for those of the file. */
  readonly providerByName: ReadonlyMap<string, Standing>;
  readonly policyByName: ReadonlyMap<string, Standing>;
  readonly shareByToken: ReadonlyMap<string, StandingShare>;
}

/** Limit of the entries of one kind. A frontdoor with more cannot be compared, and is refused. */
const MOST_ENTRIES = 20_000;

export async function readFrontdoorState(
  client: ManagementClient,
  base: string,
  file: FrontdoorFile,
): Promise<FrontdoorState> {
  const list = (name: string) => listAt(client, `${base}/${name}`);
  const get = async (path: string): Promise<Standing> => {
    const { body, entityTag } = await client.exchange({ method: 'GET', path: `${base}/${path}` });
    return { value: body as Entry, entityTag };
  };
  const [providers, policies, customFrontends, environments, shares] = [
    await list('auth-providers'),
    await list('policies'),
    await list('custom-frontends'),
    await list('environments'),
    await list('shares'),
  ];
  const frontends = entriesOf(await client.call({ method: 'GET', path: `${base}/frontends` }));
  const providerByName = new Map<string, Standing>();
  for (const { name } of file.authProviders ?? []) {
    const found = providers.filter((one) => one['name'] === name);
    if (found.length > 1)
      throw new FrontdoorError(
        'invalid',
        'name',
        `several auth providers are called ${name}: rename one of them`,
      );
    if (found.length === 1)
      providerByName.set(name, await get(`auth-providers/${encodeURIComponent(String(found[0]!['id']))}`));
  }
  const policyByName = new Map<string, Standing>();
  for (const { name } of file.policies ?? []) {
    const found = policies.find((one) => one['name'] === name);
    if (found !== undefined)
      policyByName.set(name, await get(`policies/${encodeURIComponent(String(found['id']))}`));
  }
  const shareByToken = new Map<string, StandingShare>();
  const tokens = new Set(shares.map((one) => one['token']));
  for (const { name, domains: wanted } of file.shares ?? []) {
    if (!tokens.has(name)) continue;
    const path = `shares/${encodeURIComponent(name)}`;
    const [share, policy, upstream] = [
      await get(path),
      await get(`${path}/policy`),
      await get(`${path}/upstream`),
    ];
    const domains =
      wanted === undefined
        ? []
        : entriesOf(await client.call({ method: 'GET', path: `${base}/${path}/domains` }));
    shareByToken.set(name, {
      share,
      policy,
      upstream,
      domains: domains.map((one) => String(one['hostname'])),
    });
  }
  const lists = { providers, policies, frontends, environments, customFrontends, shares };
  return { ...lists, providerByName, policyByName, shareByToken };
}

async function listAt(client: ManagementClient, path: string): Promise<readonly Entry[]> {
  const found: Entry[] = [];
  const ask = async (page: number, size: number): Promise<readonly Entry[]> =>
    entriesOf(await client.call({ method: 'GET', path: `${path}?page=${page}&size=${size}` }));
  for await (const entries of pagesOf(ask, MOST_ENTRIES + 1)) found.push(...entries);
  if (found.length <= MOST_ENTRIES) return found;
  const message = `the frontdoor has more than ${MOST_ENTRIES} entries at ${path}, which cannot be compared with a file`;
  throw new FrontdoorError('tooLarge', 'frontdoor-too-large', message);
}
