/** What a search has found so far: the best of each kind, in bounded memory. */
import type { SearchResultAnswer } from '#contract/schemas';
import { lowered } from '../../store/mod.ts';

type Found = SearchResultAnswer['results'][number];
type NewHit = Pick<Found, 'kind' | 'id' | 'name' | 'frontdoorId'> & Partial<Pick<Found, 'detail' | 'at'>>;

export const MOST_OF_A_KIND = 10;

/** An exact name comes first, the others by name. */
export class SearchHits {
  readonly #asked: string;
  readonly #byKind = new Map<string, Hit[]>();
  readonly #events: Found[] = [];
  #hasMore = false;

  constructor(asked: string) {
    this.#asked = lowered(asked);
  }

  add(added: NewHit): void {
    const found = foundOf(added);
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

  /** Events keep the order in which they are added. */
  addEvent(event: Omit<NewHit, 'kind' | 'frontdoorId'>): void {
    if (this.#events.length === MOST_OF_A_KIND) this.#hasMore = true;
    else this.#events.push(foundOf({ ...event, kind: 'audit-event', frontdoorId: null }));
  }

  answer(): SearchResultAnswer {
    const resources = [...this.#byKind.values()].flat().map(({ found }) => found);
    return { results: [...resources, ...this.#events], more: this.#hasMore };
  }
}

interface Hit {
  readonly found: Found;
  readonly isExact: boolean;
}

function foundOf({ kind, id, name, frontdoorId, detail = null, at = null }: NewHit): Found {
  return { kind, id, name, detail, at, frontdoorId };
}

function compareHits(a: Hit, b: Hit): number {
  if (a.isExact !== b.isExact) return a.isExact ? -1 : 1;
  return a.found.name < b.found.name ? -1 : a.found.name > b.found.name ? 1 : 0;
}
