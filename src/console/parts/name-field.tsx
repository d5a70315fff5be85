/** The field of a name, with the API's message about it. */
import { TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFieldError } from './form.tsx';

/** The limit that the API has for every name. */
const MAX_NAME_CHARS = 255;

export function NameField(props: {
  readonly label: string;
  readonly description?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Whether the resource needs a name; true by default. */
  readonly isRequired?: boolean;
  /** Whether it has the focus when its dialog opens. */
  readonly isFirst?: boolean;
  /** The distance to the next field; 0 in a grid, which has its own. */
  readonly mb?: 'md' | 0;
}): ReactNode {
  const { label, description, value, onChange, isRequired = true, isFirst = false, mb = 'md' } = props;
  return (
    <TextInput
      required={isRequired}
      data-autofocus={isFirst || undefined}
      maxLength={MAX_NAME_CHARS}
      autoComplete="off"
      label={label}
      description={description}
      value={value}
      error={useFieldError('name')}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      mb={mb}
    />
  );
}
