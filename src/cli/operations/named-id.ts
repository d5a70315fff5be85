/** Ids in place of names: what has both is looked up in its list. */
import { FrontdoorError } from '#base';
import { isUuid } from '#domain';
import type { ManagementClient } from '../management-client.ts';
import { entriesOf, pagesOf } from './list-pages.ts';
import type { NamedThing } from './operation-command.ts';

/** What looks like an id is one. Errors: `invalid` when nothing, or more than one thing, has the name. */
export async function namedId(
  client: ManagementClient,
  { path, what }: NamedThing,
  given: string,
): Promise<string> {
  if (isUuid(given)) return given;
  const found: unknown[] = [];
  const ask = async (page: number, size: number) =>
    entriesOf(await client.call({ method: 'GET', path: `${path}?page=${page}&size=${size}` }));
  for await (const entries of pagesOf(ask, Number.POSITIVE_INFINITY)) {
    for (const { id, name } of entries) if (name === given) found.push(id);
  }
  const [id] = found;
  if (typeof id !== 'string') {
    throw new FrontdoorError('invalid', 'name', `there is no ${what} called ${given}`);
  }
  if (found.length > 1) {
    const message = `several ${what}s are called ${given}: say which by its id (${found.join(', ')})`;
    throw new FrontdoorError('invalid', 'name', message);
  }
  return id;
}
