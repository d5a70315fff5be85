/**
 * One search. Shares, environments and nodes are many and in memory, so that memory is searched, in slices; the
 * others are few, or found by an index, and read from the store. Everything is bound to the caller's organization.
 */
import { includesScope } from '#domain';
import { searchAudit, type AuditRow } from '../../audit/mod.ts';
import { searchCallers } from '../../credentials/accounts/mod.ts';
import { searchOrganizations, searchPeople } from '../../credentials/people/mod.ts';
import { inSlices } from '../../overlay/model/mod.ts';
import { lowered } from '../../store/mod.ts';
import { findFailureOfOrganization } from '../records/request-record-store.ts';
import {
  frontdoorsOf,
  searchCustomFrontends,
  searchPolicies,
  searchProviders,
  searchShareDomains,
} from '../records/search-store.ts';
import { findUnroutedFailure } from '../records/unrouted-failure-store.ts';
import { stateIn } from './audit-operations.ts';
import { isoTime, ok, unstored, type ApiParts, type Handlers } from './call.ts';
import { ADMIN } from './granted-organization.ts';
import { textOf } from './page-query.ts';
import { MOST_OF_A_KIND, SearchHits } from './search-hits.ts';

type SearchParts = Pick<ApiParts, 'store' | 'model' | 'catalog'>;

interface Asked {
  readonly text: string;
  readonly organizationId: string;
  readonly isAdmin: boolean;
  readonly mayAdminister: boolean;
  readonly hits: SearchHits;
}

/** One more, so that a search knows that there are more. */
const LIMIT = MOST_OF_A_KIND + 1;
const ERROR_ID = /^[0-9a-f]{24}$/;

export const searchHandlers: Handlers<SearchParts, 'search'> = {
  async search(parts, { principal, query }) {
    const text = textOf(query, 'q')!;
    const { organizationId, scopes } = principal;
    const hits = new SearchHits(text);
    const asked = {
      text,
      organizationId,
      hits,
      isAdmin: scopes.includes(ADMIN),
      mayAdminister: includesScope(scopes, 'frontdoor.organization'),
    };
    await searchModel(parts, asked);
    await searchStored(parts, asked);
    if (asked.mayAdminister) await searchCallersOf(parts, asked);
    await searchFailures(parts, asked);
    await searchEvents(parts, asked);
    return unstored(ok(hits.answer()));
  },
};

async function searchModel({ store, model, catalog }: SearchParts, asked: Asked): Promise<void> {
  const { organizationId, isAdmin, hits } = asked;
  const matches = matcherOf(asked.text);
  const frontdoors = await frontdoorsOf(store.db, organizationId);
  const own = new Set(frontdoors.map(({ id }) => id));
  for (const { id, name } of frontdoors)
    if (matches(id, name)) hits.add({ kind: 'frontdoor', id, name, frontdoorId: id });
  for await (const slice of inSlices(catalog.all())) {
    for (const { id, token, target, frontdoorId } of slice)
      if (own.has(frontdoorId) && (matches(id, token) || matches(id, target)))
        hits.add({ kind: 'share', id: token, name: token, detail: target, frontdoorId });
  }
  for await (const slice of inSlices(model.identities())) {
    for (const { id, name, kind, ownerId } of slice) {
      const isSeen = kind === 'environment' ? own.has(ownerId ?? '') : isAdmin;
      if (kind !== 'edge' && isSeen && matches(id, name)) hits.add({ kind, id, name, frontdoorId: ownerId });
    }
  }
  if (!isAdmin) return;
  for (const { id, name } of model.fabricServices())
    if (matches(id, name)) hits.add({ kind: 'fabric-service', id, name, frontdoorId: null });
}

async function searchStored({ store: { db } }: SearchParts, asked: Asked): Promise<void> {
  const { text, organizationId, isAdmin, hits } = asked;
  for (const row of await searchShareDomains(db, organizationId, text, LIMIT))
    hits.add({ kind: 'share', ...row, detail: row.id });
  for (const row of await searchProviders(db, organizationId, text, LIMIT))
    hits.add({ kind: 'auth-provider', ...row });
  for (const row of await searchPolicies(db, organizationId, text, LIMIT))
    hits.add({ kind: 'policy', ...row });
  for (const row of await searchCustomFrontends(db, organizationId, text, LIMIT))
    hits.add({ kind: 'custom-frontend', ...row });
  if (!isAdmin) return;
  for (const row of await searchOrganizations(db, text, LIMIT))
    hits.add({ kind: 'organization', ...row, frontdoorId: null });
}

async function searchCallersOf({ store: { db } }: SearchParts, asked: Asked): Promise<void> {
  const { text, organizationId, hits } = asked;
  for (const { id, name, email } of await searchPeople(db, organizationId, text, LIMIT))
    hits.add({ kind: 'person', id, name, detail: email, frontdoorId: null });
  for (const row of await searchCallers(db, 'account', organizationId, text, LIMIT))
    hits.add({ kind: 'api-account', id: row.id, name: row.name, frontdoorId: null });
  for (const row of await searchCallers(db, 'client', organizationId, text, LIMIT))
    hits.add({ kind: 'oauth-client', id: row.id, name: row.name, frontdoorId: null });
}

/** By the complete error id alone: it is what visitors report. */
async function searchFailures({ store: { db } }: SearchParts, asked: Asked): Promise<void> {
  const errorId = lowered(asked.text);
  if (!ERROR_ID.test(errorId)) return;
  const own = await findFailureOfOrganization(db, asked.organizationId, errorId);
  const unrouted = own === undefined && asked.isAdmin ? await findUnroutedFailure(db, errorId) : undefined;
  const found = own ?? unrouted;
  if (found === undefined) return;
  asked.hits.add({
    kind: own === undefined ? 'unrouted-failure' : 'failure',
    id: errorId,
    name: errorId,
    detail: found.cause,
    at: isoTime(found.at),
    frontdoorId: own?.frontdoorId ?? null,
  });
}

async function searchEvents({ store: { db } }: SearchParts, asked: Asked): Promise<void> {
  for (const row of await searchAudit(db, asked.organizationId, asked.text, LIMIT)) {
    const detail = nameIn(row, row.after) ?? nameIn(row, row.before) ?? row.target_id;
    asked.hits.addEvent({ id: row.id, name: row.action, detail, at: isoTime(row.at) });
  }
}

/** The name in a recorded state of a resource. */
function nameIn(row: AuditRow, json: string | null): string | undefined {
  const state = stateIn(row, json);
  return state !== null && 'name' in state && typeof state.name === 'string' ? state.name : undefined;
}

function matcherOf(asked: string): (id: string, text: string) => boolean {
  const wanted = lowered(asked);
  return (id, text) => id === wanted || lowered(text).includes(wanted);
}
