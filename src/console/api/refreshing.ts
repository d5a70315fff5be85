/**
 * Asks again for the answers that changes concern: those of its operations, and of these only the ones about the same frontdoor and
 * resource. Each answer is asked for at most once in a while, however many changes there are.
 */
import type { Query, QueryClient } from '@tanstack/react-query';
import type { OperationId } from '#contract';
import { isConcerned } from './concerned-answer.ts';
import type { ResourceEvent } from './change-source.ts';

const FLOOR_MS = 2_000;
/** Nearly every change concerns the summaries, which count everything: while changes continue, they are asked for less and less often. */
const SUMMARY_FLOOR_MS = 5_000;
const MOST_FLOOR_MS = 40_000;
const SUMMARIES: ReadonlySet<unknown> = new Set<OperationId>([
  'getFrontdoorSummary',
  'getFrontdoorAttention',
  'getInstallationSummary',
  'listFailureGroups',
]);

export class Refreshing {
  readonly #client: QueryClient;
  /** By the hash of the query: when it was asked for again last, and how long it rests since then. */
  readonly #asked = new Map<string, { readonly atMs: number; readonly floorMs: number }>();
  readonly #waiting = new Map<string, ReturnType<typeof setTimeout>>();

  constructor(client: QueryClient) {
    this.#client = client;
    client.getQueryCache().subscribe(({ type, query }) => {
      if (type === 'removed') this.#forget(query);
    });
  }

  /** Anything may have changed. */
  all(): void {
    void this.#client.invalidateQueries();
  }

  changed(changes: readonly ResourceEvent[]): void {
    if (changes.length === 0) return;
    for (const query of this.#client.getQueryCache().getAll())
      if (changes.some((change) => isConcerned(query.queryKey, change))) this.#refresh(query);
  }

  #refresh(query: Query): void {
    const { queryHash } = query;
    if (this.#waiting.has(queryHash)) return;
    if (!query.isActive()) {
      query.invalidate();
      return;
    }
    const { atMs, floorMs } = this.#asked.get(queryHash) ?? { atMs: -Infinity, floorMs: 0 };
    const waitMs = atMs + floorMs - Date.now();
    // An answer that is on its way may be from before the change: it is awaited, and not begun again and again.
    if (waitMs <= 0 && query.state.fetchStatus === 'idle') this.#ask(query);
    else
      this.#waiting.set(
        queryHash,
        setTimeout(() => this.#askLater(query), waitMs > 0 ? waitMs : FLOOR_MS),
      );
  }

  #askLater(query: Query): void {
    this.#waiting.delete(query.queryHash);
    this.#refresh(query);
  }

  #ask(query: Query): void {
    const nowMs = Date.now();
    this.#asked.set(query.queryHash, { atMs: nowMs, floorMs: this.#floorOf(query, nowMs) });
    void this.#client.invalidateQueries({ queryKey: query.queryKey, exact: true });
  }

  #floorOf({ queryHash, queryKey }: Query, nowMs: number): number {
    if (!SUMMARIES.has(queryKey[0])) return FLOOR_MS;
    const last = this.#asked.get(queryHash);
    const continues = last !== undefined && nowMs - last.atMs <= 2 * last.floorMs;
    return continues ? Math.min(2 * last.floorMs, MOST_FLOOR_MS) : SUMMARY_FLOOR_MS;
  }

  #forget({ queryHash }: Query): void {
    clearTimeout(this.#waiting.get(queryHash));
    this.#waiting.delete(queryHash);
    this.#asked.delete(queryHash);
  }
}
