import type { SeededRandom } from './seeded-random.ts';

/** The bytes in order, in random pieces of 1 to `maxBytes`. */
export function* randomCuts(
  bytes: Uint8Array,
  random: SeededRandom,
  maxBytes: number,
): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const end = Math.min(bytes.length, at + 1 + random.int(maxBytes));
    yield bytes.subarray(at, end);
    at = end;
  }
}
