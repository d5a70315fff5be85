/**
 * Pages of shares that are filtered or sorted by their state. States are measured and in no table, so that the catalog is
 * searched, in slices, and only the rows of the page are read.
 */
import type { GuardedShare, Share } from '#domain';
import { orderedRange } from '#base';
import { inSlices, type ServiceState } from '../../overlay/model/mod.ts';
import { findSharesInOrder } from '../records/share-record.ts';
import { lowered, type ListFilter, type Page, type PageRequest } from '../../store/mod.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import type { ApiParts } from './call.ts';

type Value = string | number;

const STATE = 'status';
/** So many entries are sorted together that all are not sorted often. */
const MIN_KEPT = 1_000;

const VALUES: Readonly<Record<string, (share: GuardedShare, state: ServiceState) => Value>> = {
  default: (share) => share.createdAtMs,
  createdAt: (share) => share.createdAtMs,
  name: (share) => share.name ?? '',
  id: (share) => share.token,
  [STATE]: (_share, state) => state,
};

export function isByState({ sort }: PageRequest, { status }: ListFilter): boolean {
  return status !== undefined || sort === STATE;
}

/** States may change between two pages. */
export async function listSharesByState(
  parts: Pick<ApiParts, 'store' | 'catalog' | 'counts'>,
  frontdoor: GrantedFrontdoor,
  { page, size, sort, direction }: PageRequest,
  filter: ListFilter,
): Promise<Page<Share>> {
  const { store, catalog, counts } = parts;
  const valueOf = VALUES[sort];
  if (valueOf === undefined) throw new Error(`there is no order by ${sort}`);
  // A share that another control plane has acknowledged must not be missing.
  if (store.isShared) await store.caughtUp();
  const matches = matcherOf(filter);
  await counts.settled();
  const first = new FirstEntries((page + 1) * size, direction);
  let total = 0;
  for await (const slice of inSlices(catalog.all())) {
    for (const share of slice) {
      if (share.frontdoorId !== frontdoor.id || !matches(share)) continue;
      const state = counts.stateOf(share);
      if (filter.status !== undefined && state !== filter.status) continue;
      total += 1;
      first.add(valueOf(share, state), share.token, share.id);
    }
  }
  const ids = first.from(page * size).map(({ id }) => id);
  return { content: await findSharesInOrder(store.db, frontdoor, ids), total };
}

interface Entry {
  readonly value: Value;
  /** Breaks ties. */
  readonly tie: string;
  readonly id: string;
}

/** The first entries of an order, chosen as they come: to look at each again, when the caches have lost it, takes longer. */
class FirstEntries {
  readonly #count: number;
  readonly #sign: number;
  #kept: Entry[] = [];
  /** Entries that are not before this one are not among the first. */
  #last: Entry | undefined;

  constructor(count: number, direction: PageRequest['direction']) {
    this.#count = count;
    this.#sign = direction === 'asc' ? 1 : -1;
  }

  add(value: Value, tie: string, id: string): void {
    const last = this.#last;
    if (last !== undefined && this.#sign * (compared(value, last.value) || compared(tie, last.tie)) >= 0)
      return;
    this.#kept.push({ value, tie, id });
    if (this.#kept.length < Math.max(2 * this.#count, MIN_KEPT)) return;
    this.#kept = this.from(0);
    this.#last = this.#kept.at(-1);
  }

  /** The entries from this position on. */
  from(position: number): Entry[] {
    const compare = (a: Entry, b: Entry): number =>
      this.#sign * (compared(a.value, b.value) || compared(a.tie, b.tie));
    return orderedRange(this.#kept, compare, position, this.#count);
  }
}

/** Matches as the database does. */
function matcherOf(filter: ListFilter): (share: GuardedShare) => boolean {
  const { fromMs = -Infinity, toMs = Infinity, environmentId, providerId, policyId } = filter;
  const name = filter.name === undefined ? undefined : lowered(filter.name);
  return (share) =>
    share.createdAtMs >= fromMs &&
    share.createdAtMs < toMs &&
    (environmentId === undefined || share.environmentId === environmentId) &&
    (providerId === undefined || share.authProviderIds.includes(providerId)) &&
    (policyId === undefined || share.accessPolicyId === policyId) &&
    (name === undefined || share.name?.includes(name) === true);
}

function compared(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
