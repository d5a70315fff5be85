/** Splits lists into slices of a few fixed sizes, so that statements over them have few texts and stay prepared. */
const SIZES = [100, 10, 1];

export function* fixedSlices<T>(items: readonly T[]): Generator<readonly T[]> {
  let from = 0;
  for (const size of SIZES) {
    for (; items.length - from >= size; from += size) yield items.slice(from, from + size);
  }
}
