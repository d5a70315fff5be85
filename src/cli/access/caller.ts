/** Asks the Management API for the caller of its credentials and for the frontdoors it can reach. */
import { FrontdoorError } from '#base';
import type { CallerAnswer } from '#contract/schemas';
import type { ManagementClient } from '../management-client.ts';
import { entriesOf, pagesOf } from '../operations/list-pages.ts';

export interface ReachableFrontdoor {
  readonly id: string;
  readonly name: string;
}

/** Upper bound for the frontdoors that a person is offered to choose from. */
const MAX_FRONTDOORS = 1_000;

export async function fetchCaller(client: ManagementClient): Promise<CallerAnswer> {
  const caller = (await client.call({ method: 'GET', path: '/caller' })) as Partial<CallerAnswer> | undefined;
  if (
    typeof caller?.id === 'string' &&
    typeof caller.organizationId === 'string' &&
    Array.isArray(caller.scopes)
  )
    return caller as CallerAnswer;
  throw new FrontdoorError('badGateway', 'answer', 'the server is not a Management API of Frontdoor');
}

export async function fetchFrontdoors(
  client: ManagementClient,
  organizationId: string,
): Promise<readonly ReachableFrontdoor[]> {
  const path = `/organizations/${encodeURIComponent(organizationId)}/frontdoors`;
  const found: ReachableFrontdoor[] = [];
  const ask = async (page: number, size: number) =>
    entriesOf(await client.call({ method: 'GET', path: `${path}?page=${page}&size=${size}` }));
  for await (const entries of pagesOf(ask, MAX_FRONTDOORS))
    for (const { id, name } of entries) found.push({ id: String(id), name: String(name) });
  return found;
}
