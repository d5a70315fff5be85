/**
 * Returns `items.toSorted(compare).slice(from, to)` without sorting the rest, in time that on average grows with the number of
 * items alone. The order of `items` changes.
 */
export function orderedRange<T>(items: T[], compare: (a: T, b: T) => number, from: number, to: number): T[] {
  const end = Math.min(to, items.length);
  if (from >= end) return [];
  divide(items, compare, 0, from);
  divide(items, compare, from, end);
  return items.slice(from, end).sort(compare);
}

/** Moves the items from `low` on so that none before `at` comes after one behind it in the order (Hoare's selection). */
function divide<T>(items: T[], compare: (a: T, b: T) => number, low: number, at: number): void {
  let first = low;
  let last = items.length - 1;
  while (first < last && at <= last) {
    // A random pivot, so that no order that others choose makes it slow.
    const pivot = items[first + Math.floor(Math.random() * (last - first + 1))]!;
    let left = first;
    let right = last;
    while (left <= right) {
      while (compare(items[left]!, pivot) < 0) left += 1;
      while (compare(items[right]!, pivot) > 0) right -= 1;
      if (left > right) break;
      const moved = items[left]!;
      items[left] = items[right]!;
      items[right] = moved;
      left += 1;
      right -= 1;
    }
    if (at <= right) last = right;
    else if (at >= left) first = left;
    else return;
  }
}
