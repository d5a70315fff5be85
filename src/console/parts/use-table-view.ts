/** How the person wants to see one list. */
import { useSyncExternalStore } from 'react';
import { useProgram } from '../api/program.tsx';
import { useSession } from '../api/session.tsx';
import { TableViews } from './table-views.ts';

export interface TableView {
  readonly isRoomy: boolean;
  readonly hidden: readonly string[];
  setRoomy(isRoomy: boolean): void;
  setHidden(columns: readonly string[]): void;
}

const NONE: readonly string[] = [];

/** `list`: the name of the list, in which columns are hidden. */
export function useTableView(list: string): TableView {
  const views = useProgram().partOf(TableViews);
  const { id } = useSession().caller;
  const { isRoomy, hidden } = useSyncExternalStore(
    (listener) => views.subscribe(listener),
    () => views.of(id),
  );
  return {
    isRoomy,
    hidden: hidden[list] ?? NONE,
    setRoomy: (next) => views.setRoomy(next),
    setHidden: (columns) => views.setHidden(list, columns),
  };
}
