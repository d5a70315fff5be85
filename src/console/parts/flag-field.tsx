/** A field that is on or off. Its name is that of the API, whose messages appear at it. */
import { Checkbox } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFieldError } from './form.tsx';

export function FlagField(props: {
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
}): ReactNode {
  const { name, label, description, value, onChange } = props;
  return (
    <Checkbox
      mb="md"
      label={label}
      description={description}
      error={useFieldError(name, true)}
      checked={value}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}
