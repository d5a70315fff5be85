/** Filters of a list, which stand in the address. */
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { fromLocalTime, toLocalTime } from './local-time.ts';
import { partsText } from './parts-text.ts';
import type { SearchControl } from './search-state.tsx';

export interface FilterChoice {
  readonly value: string;
  readonly label: string;
}

export interface PageFilter {
  /** The field of the operation's query, and of the address. */
  readonly name: string;
  readonly label: string;
  /** One of these, a time of the browser's zone, or a text that is typed. */
  readonly by: readonly FilterChoice[] | 'time' | 'text';
  readonly placeholder?: string;
}

interface FilterProps {
  readonly filter: PageFilter;
  readonly control: SearchControl;
}

export function Filters(props: {
  /** Names the list that they narrow, for people who do not see it. */
  readonly label: string;
  readonly filters: readonly PageFilter[];
  readonly control: SearchControl;
  /** Undefined: the address has no filter. */
  readonly onClear?: () => void;
}): ReactNode {
  const text = useText(partsText);
  const { filters, control, onClear } = props;
  return (
    <div className="fd-filters" role="search" aria-label={props.label}>
      {filters.map((filter) => (
        <Filter key={filter.name} filter={filter} control={control} />
      ))}
      {onClear === undefined ? null : (
        <Button variant="subtle" size="xs" onClick={onClear}>
          {text.clearFilters}
        </Button>
      )}
    </div>
  );
}

function Filter({ filter, control }: FilterProps): ReactNode {
  const { name, label, by } = filter;
  if (by === 'text') return <TextFilter filter={filter} control={control} />;
  if (by === 'time')
    return (
      <TextInput
        size="xs"
        type="datetime-local"
        label={label}
        value={toLocalTime(control.textOf(name))}
        onChange={({ currentTarget }) =>
          control.change({ [name]: fromLocalTime(currentTarget.value) }, { replace: true })
        }
      />
    );
  return <ChoiceFilter name={name} label={label} choices={by} control={control} />;
}

const TYPING_MS = 300;

/** The text is in the address shortly after the last key. */
function TextFilter({ filter: { name, label, placeholder = '' }, control }: FilterProps): ReactNode {
  const current = control.textOf(name);
  const [typed, setTyped] = useState(current);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const sent = useRef(current);
  useEffect(() => {
    if (current !== sent.current) setTyped(current);
    sent.current = current;
  }, [current]);
  const set = (value: string) => {
    setTyped(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      sent.current = value;
      control.change({ [name]: value }, { replace: true });
    }, TYPING_MS);
  };
  return (
    <TextInput
      size="xs"
      type="search"
      label={label}
      placeholder={placeholder}
      value={typed}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    />
  );
}

function ChoiceFilter(props: {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly FilterChoice[];
  readonly control: SearchControl;
}): ReactNode {
  const text = useText(partsText);
  const { name, label, choices, control } = props;
  const chosen = control.textOf(name);
  return (
    <NativeSelect
      size="xs"
      label={label}
      value={chosen}
      onChange={({ currentTarget }) => control.change({ [name]: currentTarget.value })}
      data={[{ value: '', label: text.any }, ...withChosen(choices, chosen)]}
    />
  );
}

const SHOWN_CHARS = 8;

/** A value that is chosen already, by the address, is a choice even if the list lacks it. */
export function withChosen(choices: readonly FilterChoice[], chosen: string): readonly FilterChoice[] {
  return chosen === '' || choices.some(({ value }) => value === chosen)
    ? choices
    : [...choices, { value: chosen, label: chosen.slice(0, SHOWN_CHARS) }];
}

/** Choices by name, of what an answer lists. */
export function namedChoices(
  listed: readonly { readonly id: string; readonly name: string }[] = [],
): readonly FilterChoice[] {
  return listed.map(({ id, name }) => ({ value: id, label: name }));
}

/** The filter that most lists have. */
export function useNameFilter(): PageFilter {
  return { name: 'name', label: useText(partsText).filterText, by: 'text' };
}
