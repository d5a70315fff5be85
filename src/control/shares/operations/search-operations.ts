/**
 * One search. Shares, environments and nodes are many and in memory, so that memory is searched, in slices; the
 * others are few and read from the store.
 */
import type { SearchResultAnswer } from '#contract/schemas';
import { inSlices } from '../../overlay/model/mod.ts';
import {
  frontdoorsOf,
  searchCustomFrontends,
  searchProviders,
  searchShareDomains,
} from '../records/search-store.ts';
import { searchOrganizations } from '../../credentials/people/mod.ts';
import { lowered } from '../../store/mod.ts';
import { ok, unstored, type ApiParts, type Handlers } from './call.ts';
import { ADMIN } from './granted-organization.ts';
import { textOf } from './page-query.ts';

type SearchParts = Pick<ApiParts, 'store' | 'model' | 'catalog'>;
type Found = SearchResultAnswer['results'][number];

const MOST_OF_A_KIND = 10;

export const searchHandlers: Handlers<SearchParts, 'search'> = {
  async search({ store, model, catalog }, { principal, query }) {
    const asked = textOf(query, 'q')!;
    const matches = matcherOf(asked);
    const isAdmin = principal.scopes.includes(ADMIN);
    const { organizationId } = principal;
    const frontdoors = await frontdoorsOf(store.db, organizationId);
    const own = new Set(frontdoors.map(({ id }) => id));
    const hits = new Hits(asked);
    for (const { id, name } of frontdoors)
      if (matches(name, id)) hits.add({ kind: 'frontdoor', id, name, frontdoorId: id });
    for await (const slice of inSlices(catalog.all())) {
      for (const { id, token, frontdoorId } of slice)
        if (own.has(frontdoorId) && matches(token, id))
          hits.add({ kind: 'share', id: token, name: token, frontdoorId });
    }
    for await (const slice of inSlices(model.identities())) {
      for (const { id, name, kind, ownerId } of slice) {
        const isSeen = kind === 'environment' ? own.has(ownerId ?? '') : isAdmin;
        if (kind !== 'edge' && isSeen && matches(name, id))
          hits.add({ kind, id, name, frontdoorId: ownerId });
      }
    }
    const limit = MOST_OF_A_KIND + 1;
    for (const row of await searchShareDomains(store.db, organizationId, asked, limit))
      hits.add({ kind: 'share', ...row });
    for (const row of await searchProviders(store.db, organizationId, asked, limit))
      hits.add({ kind: 'auth-provider', ...row });
    for (const row of await searchCustomFrontends(store.db, organizationId, asked, limit))
      hits.add({ kind: 'custom-frontend', ...row });
    if (isAdmin) {
      for (const row of await searchOrganizations(store.db, asked, limit))
        hits.add({ kind: 'organization', ...row, frontdoorId: null });
      for (const { id, name } of model.fabricServices())
        if (matches(name, id)) hits.add({ kind: 'fabric-service', id, name, frontdoorId: null });
    }
    return unstored(ok(hits.answer()));
  },
};

function matcherOf(asked: string): (name: string, id: string) => boolean {
  const text = lowered(asked);
  return (name, id) => id === text || lowered(name).includes(text);
}

/** The best of each kind, in bounded memory: an exact name first, then by name. */
class Hits {
  readonly #asked: string;
  readonly #byKind = new Map<string, Hit[]>();
  #hasMore = false;

  constructor(asked: string) {
    this.#asked = lowered(asked);
  }

  add(found: Found): void {
    const hit = { found, isExact: lowered(found.name) === this.#asked };
    const kept = this.#byKind.get(found.kind) ?? [];
    this.#byKind.set(found.kind, kept);
    // Most of many are no better than the worst that is kept.
    if (kept.length === MOST_OF_A_KIND) {
      this.#hasMore = true;
      if (compareHits(hit, kept.at(-1)!) >= 0) return;
      kept.pop();
    }
    const at = kept.findIndex((other) => compareHits(hit, other) < 0);
    kept.splice(at === -1 ? kept.length : at, 0, hit);
  }

  answer(): SearchResultAnswer {
    return { results: [...this.#byKind.values()].flat().map(({ found }) => found), more: this.#hasMore };
  }
}

interface Hit {
  readonly found: Found;
  readonly isExact: boolean;
}

function compareHits(a: Hit, b: Hit): number {
  if (a.isExact !== b.isExact) return a.isExact ? -1 : 1;
  return a.found.name < b.found.name ? -1 : a.found.name > b.found.name ? 1 : 0;
}
