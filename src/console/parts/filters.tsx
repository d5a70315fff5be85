/** Filters of a list, which stand in the address. */
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useText } from '../text/language.tsx';
import { partsText } from './parts-text.ts';
import type { SearchControl } from './search-state.tsx';

const TYPING_MS = 300;

/** The text is in the address shortly after the last key. */
export function TextFilter(props: {
  readonly control: SearchControl;
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
}): ReactNode {
  const { control, name, label } = props;
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
      type="search"
      label={label}
      placeholder={props.placeholder ?? ''}
      value={typed}
      onChange={({ currentTarget }) => set(currentTarget.value)}
    />
  );
}

export function ChoiceFilter(props: {
  readonly control: SearchControl;
  readonly name: string;
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
}): ReactNode {
  const text = useText(partsText);
  const { control, name, label, choices } = props;
  return (
    <NativeSelect
      label={label}
      value={control.textOf(name)}
      onChange={({ currentTarget }) => control.change({ [name]: currentTarget.value })}
      data={[{ value: '', label: text.any }, ...choices]}
    />
  );
}

const SHOWN_ID_CHARS = 8;

/** Choices by name. One that the address names is a choice even if it is not listed. */
export function choicesOf(
  listed: readonly { readonly id: string; readonly name: string }[],
  chosen: string,
): { readonly value: string; readonly label: string }[] {
  const choices = listed.map(({ id, name }) => ({ value: id, label: name }));
  return chosen === '' || listed.some(({ id }) => id === chosen)
    ? choices
    : [...choices, { value: chosen, label: chosen.slice(0, SHOWN_ID_CHARS) }];
}

export function Filters({
  control,
  children,
}: {
  readonly control: SearchControl;
  readonly children: ReactNode;
}): ReactNode {
  const text = useText(partsText);
  return (
    <div className="fd-filters" role="search">
      {children}
      {control.isFiltered ? (
        <Button variant="subtle" onClick={control.clear}>
          {text.clearFilters}
        </Button>
      ) : null}
    </div>
  );
}
