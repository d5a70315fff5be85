/** A point in time, typed in the time zone of the browser and kept as the API writes it. */
import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { fromLocalTime, toLocalTime } from './local-time.ts';

export function TimeInput(props: {
  readonly label: string;
  readonly description?: string | undefined;
  readonly error?: string | undefined;
  readonly required?: boolean | undefined;
  /** ISO 8601; '': none. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  return (
    <TextInput
      type="datetime-local"
      step={60}
      label={props.label}
      description={props.description}
      error={props.error}
      required={props.required ?? false}
      value={toLocalTime(props.value)}
      onChange={({ currentTarget }) => props.onChange(fromLocalTime(currentTarget.value))}
      mb="md"
    />
  );
}
