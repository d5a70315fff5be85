/** Which pages and commands of the console match a typed text, the best first. Pure. */

export interface Rankable {
  readonly name: string;
  /** Further words by which people look for it. */
  readonly words?: string | undefined;
}

export interface Ranked<T> {
  /** Their names, or words of these, begin with the text. */
  readonly strong: readonly T[];
  /** Their names or further words contain every typed word. */
  readonly weak: readonly T[];
}

/** An empty text matches everything, in the order of the entries. */
export function ranked<T extends Rankable>(entries: readonly T[], typed: string): Ranked<T> {
  const text = typed.trim().toLowerCase();
  if (text === '') return { strong: entries, weak: [] };
  const words = text.split(/\s+/);
  const matches = entries
    .map((entry) => ({ entry, rank: rankOf(entry, text, words) }))
    .toSorted((a, b) => a.rank - b.rank);
  const between = (least: number, most: number) =>
    matches.filter(({ rank }) => rank >= least && rank <= most).map(({ entry }) => entry);
  return { strong: between(0, 1), weak: between(2, NO_MATCH - 1) };
}

const NO_MATCH = 4;

function rankOf(entry: Rankable, text: string, words: readonly string[]): number {
  const name = entry.name.toLowerCase();
  if (name.startsWith(text)) return 0;
  if (name.split(/\s+/).some((word) => word.startsWith(text))) return 1;
  if (words.every((word) => name.includes(word))) return 2;
  const all = `${name} ${entry.words?.toLowerCase() ?? ''}`;
  return words.every((word) => all.includes(word)) ? 3 : NO_MATCH;
}
