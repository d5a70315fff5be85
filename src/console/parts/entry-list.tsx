/**
 * A list in a form: each entry has a group of fields and a button that removes it. The focus moves to the first field of a new
 * entry, and after a removal to the entry that takes the place, or to the button that adds one.
 */
import { Button, Fieldset } from '@mantine/core';
import { useRef, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { useFieldError } from './form.tsx';

export interface EntryPlace<Entry> {
  /** The name of the entry at the API, which the names of its fields begin with: `claims.0`. */
  readonly path: string;
  readonly onChange: (entry: Entry) => void;
}

export function EntryList<Entry>(props: {
  /** The name of the list at the API. Messages about the list as a whole appear above its entries. */
  readonly name: string;
  readonly legend: string;
  readonly help: string | undefined;
  readonly entries: readonly Entry[];
  readonly nameOf: (entry: Entry, at: number) => string;
  /** The order in which entries are shown. By default that of the list. */
  readonly compare?: (a: Entry, b: Entry) => number;
  readonly minEntries?: number;
  readonly add: string;
  readonly remove: (name: string) => string;
  readonly newEntry: () => Entry;
  readonly onChange: (entries: readonly Entry[]) => void;
  /** The fields of an entry. */
  readonly children: (entry: Entry, place: EntryPlace<Entry>) => ReactNode;
}): ReactNode {
  const { name, entries, nameOf, compare, onChange } = props;
  const error = useFieldError(name, true);
  const [list, add] = [useRef<HTMLDivElement>(null), useRef<HTMLButtonElement>(null)];
  const shown = [...entries.entries()];
  if (compare !== undefined) shown.sort(([, a], [, b]) => compare(a, b));
  const changeAndFocus = (changed: readonly Entry[], position: number) => {
    flushSync(() => onChange(changed));
    const field = list.current?.children[position]?.querySelector<HTMLElement>('input, select, textarea');
    (field ?? add.current)?.focus();
  };
  return (
    <Fieldset legend={props.legend} mb="md" className="fd-entries">
      <p className="fd-soft fd-small">{props.help}</p>
      {error === undefined ? null : <p className="fd-bad">{error}</p>}
      <div ref={list}>
        {shown.map(([at, entry], position) => (
          // Entries have no id; a removed one takes its fields with it, as all are controlled.
          <Fieldset key={at} legend={nameOf(entry, at)} mb="sm">
            {props.children(entry, {
              path: `${name}.${at}`,
              onChange: (changed) => onChange(entries.with(at, changed)),
            })}
            {entries.length <= (props.minEntries ?? 0) ? null : (
              <Button
                size="xs"
                variant="default"
                onClick={() => changeAndFocus(entries.toSpliced(at, 1), position)}
              >
                {props.remove(nameOf(entry, at))}
              </Button>
            )}
          </Fieldset>
        ))}
      </div>
      <Button
        ref={add}
        size="xs"
        variant="default"
        onClick={() => changeAndFocus([...entries, props.newEntry()], entries.length)}
      >
        {props.add}
      </Button>
    </Fieldset>
  );
}
