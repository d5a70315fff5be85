/** The columns and rows of a list, as its page describes them. */
import type { ReactNode } from 'react';
import type { RowAction } from './row-menu.tsx';

export interface ListColumn<Row> {
  /** Names the column in what this browser keeps, in every language. By default its title. */
  readonly id?: string | undefined;
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** The field of the API's `sort`, if the list sorts by this column. */
  readonly sort?: string | undefined;
  readonly isNumber?: boolean | undefined;
  /** In rem. The other columns share what is left, by their `share`. */
  readonly width?: number | undefined;
  /** By default 1. */
  readonly share?: number | undefined;
  /** Names the row: it is always shown, and is the title of its card. */
  readonly isName?: boolean | undefined;
}

export interface ListRows<Row> {
  readonly columns: readonly ListColumn<Row>[];
  readonly keyOf: (row: Row) => string;
  /** Names a row for its menu and its box; needed where rows have any. */
  readonly nameOf?: ((row: Row) => string) | undefined;
  /** The menu of a row, in the order of its entries. */
  readonly menuOf?: ((row: Row) => readonly RowAction[]) | undefined;
  /** Buttons that change all selected rows. Rows can be selected where there are any. */
  readonly bulk?: ((rows: readonly Row[], clear: () => void) => ReactNode) | undefined;
}

export function columnId<Row>({ id, title }: ListColumn<Row>): string {
  return id ?? title;
}
