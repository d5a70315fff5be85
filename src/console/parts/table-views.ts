/**
 * How a person wants to see tables: the height of rows, and the columns that each list hides. Kept in this browser for the person who
 * used it last, and bounded, so that nothing of an earlier version or of another program can fill it.
 */

interface TableChoices {
  readonly isRoomy: boolean;
  /** Columns by the name of their list. */
  readonly hidden: Readonly<Record<string, readonly string[]>>;
}

type Kept = Pick<Storage, 'getItem' | 'setItem'>;

const KEY = 'frontdoor-tables';
const MAX_LISTS = 60;
const MAX_COLUMNS = 30;
const NAME = /^[\w-]{1,40}$/;
const NOTHING: TableChoices = { isRoomy: false, hidden: {} };

export class TableViews {
  #person = '';
  #choices = NOTHING;
  readonly #listeners = new Set<() => void>();

  /** The choices of a person; the same object until one changes. */
  of(person: string, kept: Kept = localStorage): TableChoices {
    if (person !== this.#person)
      [this.#person, this.#choices] = [person, readChoices(kept.getItem(KEY), person)];
    return this.#choices;
  }

  setRoomy(isRoomy: boolean, kept: Kept = localStorage): void {
    this.#change({ isRoomy, hidden: this.#choices.hidden }, kept);
  }

  setHidden(list: string, columns: readonly string[], kept: Kept = localStorage): void {
    const others = Object.entries(this.#choices.hidden).filter(([name]) => name !== list);
    const entries = columns.length === 0 ? others : [...others, [list, columns] as const];
    // The list that was chosen for last stays.
    this.#change(
      { isRoomy: this.#choices.isRoomy, hidden: Object.fromEntries(entries.slice(-MAX_LISTS)) },
      kept,
    );
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #change(choices: TableChoices, kept: Kept): void {
    this.#choices = choices;
    try {
      kept.setItem(
        KEY,
        JSON.stringify({ person: this.#person, isRoomy: choices.isRoomy, hidden: choices.hidden }),
      );
    } catch {
      // A browser that keeps nothing still shows it until the page is left.
    }
    for (const listener of this.#listeners) listener();
  }
}

/** What another person chose, or what is not understood, is as if nothing was kept. */
export function readChoices(text: string | null, person: string): TableChoices {
  const read = objectOf(parsed(text));
  if (read['person'] !== person) return NOTHING;
  const lists = Object.entries(objectOf(read['hidden']))
    .filter(([list]) => NAME.test(list))
    .map(([list, columns]) => [list, namesOf(columns)] as const)
    .filter(([, columns]) => columns.length > 0);
  return { isRoomy: read['isRoomy'] === true, hidden: Object.fromEntries(lists.slice(-MAX_LISTS)) };
}

function namesOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((name) => typeof name === 'string' && NAME.test(name)).slice(0, MAX_COLUMNS);
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}
