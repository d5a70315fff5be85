/** Resolves names to ids with the lists of the Management API. */
import { FrontdoorError, nearestNames } from '#base';
import { printable } from '#base/terminal';
import { operations, type Operation } from '#contract';
import { isUuid } from '#domain';
import type { ResolvedAccess } from '../access/access.ts';
import type { ManagementClient } from '../management-client.ts';
import { entriesOf, pagesOf, type Entry } from './list-pages.ts';
import { namedByField, type NamedThing } from './named-thing-table.ts';

/** Limit of searched entries. For a longer list the user has to give the id. */
const MOST_ENTRIES = 20_000;
const MOST_SHOWN = 10;
const SUGGESTED_NAMES = 3;

/** The client and the selected frontdoor and organization. */
export interface LookUp {
  readonly client: ManagementClient;
  readonly access: Pick<ResolvedAccess, 'frontdoorId' | 'organizationId' | 'missing'>;
}

/** Stands for the organization in audit events that belong to none. */
const NO_ORGANIZATION = 'installation';

/**
 * Returns the id for `given`. A UUID is returned as it is, and so is an id from the list; everything else is a
 * name. Throws `invalid` if no resource, or more than one, has the name.
 */
export async function namedId(look: LookUp, thing: NamedThing, given: string): Promise<string> {
  if (isUuid(given)) return given;
  const { name: nameField, what } = thing;
  const path = await listPath(look, thing.path);
  const found: string[] = [];
  const names = new Set<string>();
  let count = 0;
  for await (const entries of entriesAt(look.client, path, isPaged(thing))) {
    for (const { id, [nameField]: name } of entries) {
      if (typeof id !== 'string') continue;
      if (id === given) return id;
      if (name === given) found.push(id);
      else if (typeof name === 'string') names.add(name);
    }
    count += entries.length;
  }
  const [id] = found;
  if (found.length > 1) {
    const shown = found.slice(0, MOST_SHOWN).join(', ');
    const more = found.length > MOST_SHOWN ? ` and ${found.length - MOST_SHOWN} more` : '';
    const message = `several ${what}s are called ${printable(given)}: use the ID of one of them (${shown}${more})`;
    throw new FrontdoorError('invalid', 'name', message);
  }
  if (id !== undefined) return id;
  const near = nearestNames(given, [...names], SUGGESTED_NAMES).map(printable);
  const hint =
    count >= MOST_ENTRIES
      ? ` among the first ${MOST_ENTRIES}: use its ID`
      : near.length === 0
        ? ''
        : `; the nearest names are ${near.join(', ')}`;
  throw new FrontdoorError('invalid', 'name', `there is no ${what} called ${printable(given)}${hint}`);
}

/** Returns the id of the organization with this id or name. */
export async function organizationIdOf(look: LookUp, given: string): Promise<string> {
  return given === NO_ORGANIZATION ? given : namedId(look, namedByField('organizationId')!, given);
}

/** Returns the organization that the credentials belong to. */
export async function ownOrganization({ client, access }: LookUp): Promise<string> {
  if (access.organizationId !== undefined) return access.organizationId;
  const caller = (await client.call({ method: 'GET', path: '/caller' })) as
    | { organizationId?: unknown }
    | undefined;
  if (typeof caller?.organizationId === 'string') return caller.organizationId;
  throw new FrontdoorError(
    'badGateway',
    'answer',
    'the Management API did not return the organization of the credentials',
  );
}

/** Returns the id of the selected frontdoor. Throws an error with the ways to select one. */
export async function frontdoorOf(look: LookUp): Promise<string> {
  const { frontdoorId, missing } = look.access;
  if (frontdoorId !== undefined) return namedId(look, namedByField('frontdoorId')!, frontdoorId);
  if (missing !== undefined) throw new FrontdoorError('unauthenticated', 'no-credentials', missing);
  const remedy =
    '--frontdoor NAME, FRONTDOOR_ID, or "frontdoor login"; "frontdoor frontdoors list" shows them';
  throw new FrontdoorError('invalid', 'no-frontdoor', `no frontdoor selected: ${remedy}`);
}

async function* entriesAt(
  client: ManagementClient,
  path: string,
  isInPages: boolean,
): AsyncGenerator<readonly Entry[]> {
  if (!isInPages) return void (yield entriesOf(await client.call({ method: 'GET', path })));
  yield* pagesOf(
    async (page, size) =>
      entriesOf(await client.call({ method: 'GET', path: `${path}?page=${page}&size=${size}` })),
    MOST_ENTRIES,
  );
}

function isPaged({ path }: NamedThing): boolean {
  const list = (operations as readonly Operation[]).find(
    (each) => each.path === path && each.method === 'GET',
  );
  return list?.query.some(({ name }) => name === 'page') === true;
}

async function listPath(look: LookUp, path: string): Promise<string> {
  if (path.includes('{frontdoorId}'))
    return path.replace('{frontdoorId}', encodeURIComponent(await frontdoorOf(look)));
  if (path.includes('{organizationId}'))
    return path.replace('{organizationId}', encodeURIComponent(await ownOrganization(look)));
  return path;
}
