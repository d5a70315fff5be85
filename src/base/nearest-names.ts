const MAX_NAME_LENGTH = 100;
const MAX_MISSPELLED_LETTERS = 2;

/** Returns the known names that are most similar to a misspelled one, the most similar first. */
export function nearestNames(name: string, known: readonly string[], count: number): string[] {
  const asked = name.slice(0, MAX_NAME_LENGTH).toLowerCase();
  return known
    .map((candidate) => ({ candidate, distance: editDistance(asked, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count)
    .map(({ candidate }) => candidate);
}

/** Returns the known name that a misspelled one is meant to be: it differs in at most two letters, and in less than half. */
export function misspelledName(name: string, known: readonly string[]): string | undefined {
  const [nearest] = nearestNames(name, known, 1);
  if (nearest === undefined) return undefined;
  const distance = editDistance(name.slice(0, MAX_NAME_LENGTH).toLowerCase(), nearest.toLowerCase());
  return distance <= MAX_MISSPELLED_LETTERS && distance < nearest.length / 2 ? nearest : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
