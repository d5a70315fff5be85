/** The rows of a list that someone has selected, also on other pages of it. At most so many, because each is changed on its own. */
import { useState } from 'react';

export const MOST_SELECTED = 200;

export interface RowSelection<Row> {
  /** As they are on the screen now, or were when they were selected. */
  readonly rows: readonly Row[];
  readonly isFull: boolean;
  has(row: Row): boolean;
  set(rows: readonly Row[], isSelected: boolean): void;
  clear(): void;
}

export function useSelection<Row>(shown: readonly Row[], keyOf: (row: Row) => string): RowSelection<Row> {
  const [selected, setSelected] = useState<ReadonlyMap<string, Row>>(new Map());
  const current = new Map(shown.map((row) => [keyOf(row), row]));
  return {
    rows: [...selected].map(([key, row]) => current.get(key) ?? row),
    isFull: selected.size >= MOST_SELECTED,
    has: (row) => selected.has(keyOf(row)),
    set: (rows, isSelected) =>
      setSelected((before) => {
        const next = new Map(before);
        for (const row of rows) {
          if (!isSelected) next.delete(keyOf(row));
          else if (next.size < MOST_SELECTED) next.set(keyOf(row), row);
        }
        return next;
      }),
    clear: () => setSelected(new Map()),
  };
}
