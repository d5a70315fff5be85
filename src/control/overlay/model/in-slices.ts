/** Iterates over the model in slices, between which other requests are served. */
import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE = 2_000;

/** Entries that are added during the iteration may be missing; no entry appears twice. */
export async function* inSlices<T>(items: Iterable<T>): AsyncGenerator<readonly T[]> {
  let slice: T[] = [];
  for (const item of items) {
    slice.push(item);
    if (slice.length < SLICE) continue;
    yield slice;
    slice = [];
    await nextTurn();
  }
  yield slice;
}
