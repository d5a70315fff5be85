/** A list of things to choose from, with a filter when it is long. Chosen things stay chosen while others are filtered. */
import { Checkbox, Fieldset, TextInput } from '@mantine/core';
import { useId, type ReactNode } from 'react';
import { useFieldError } from '../../parts/form.tsx';
import { useFormat, useText } from '../../text/language.tsx';
import { newShareText } from './new-share-text.ts';

export interface PickItem {
  readonly id: string;
  readonly label: string;
  readonly hint?: string | undefined;
}

/** Above this number there is a filter. */
const SHORT = 8;
export const MAX_CHOICES = 100;

export function PickMany(props: {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The property of the body, for messages of the API. */
  readonly field: string;
  readonly choices: readonly PickItem[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  /** The text that the choices were asked for with. */
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly error?: string | undefined;
  /** Shown instead of an empty list. */
  readonly empty: ReactNode;
}): ReactNode {
  const [text, format] = [useText(newShareText), useFormat()];
  const { choices, chosen, filter } = props;
  const errorId = useId();
  const fieldError = useFieldError(props.field);
  const error = props.error ?? fieldError;
  const toggle = (id: string, isOn: boolean) =>
    props.onChange(isOn ? [...chosen, id] : chosen.filter((each) => each !== id));
  if (choices.length === 0 && filter === '' && chosen.length === 0)
    return (
      <Fieldset legend={props.label}>
        {props.empty}
        {error === undefined ? null : <p className="fd-error">{error}</p>}
      </Fieldset>
    );
  return (
    <Fieldset legend={props.label} {...(error === undefined ? {} : { 'aria-describedby': errorId })}>
      {props.hint === undefined ? null : <p className="fd-soft fd-small">{props.hint}</p>}
      {choices.length > SHORT || filter !== '' ? (
        <TextInput
          type="search"
          mb="sm"
          label={text.filter}
          value={filter}
          onChange={({ currentTarget }) => props.onFilter(currentTarget.value)}
        />
      ) : null}
      <div className="fd-choices">
        {choices.map(({ id, label, hint }) => (
          <Checkbox
            key={id}
            label={label}
            description={hint}
            checked={chosen.includes(id)}
            onChange={({ currentTarget }) => toggle(id, currentTarget.checked)}
          />
        ))}
      </div>
      {choices.length >= MAX_CHOICES ? (
        <p className="fd-soft fd-small">{text.firstOnly(format.number(MAX_CHOICES))}</p>
      ) : null}
      {chosen.length === 0 ? null : (
        <p className="fd-soft fd-small">{text.chosen(chosen.length, format.number(chosen.length))}</p>
      )}
      {error === undefined ? null : (
        <p id={errorId} className="fd-error">
          {error}
        </p>
      )}
    </Fieldset>
  );
}
