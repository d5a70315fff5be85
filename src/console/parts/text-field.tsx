/** Fields for text, of one line or of several. The name of each is that of the API, whose messages appear at it. */
import { Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFieldError } from './form.tsx';

interface TextFieldProps {
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function LinesField({ name, label, description, value, onChange }: TextFieldProps): ReactNode {
  return (
    <Textarea
      label={label}
      description={description}
      error={useFieldError(name)}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      rows={Math.min(8, Math.max(2, value.split('\n').length))}
      spellCheck={false}
      autoCapitalize="none"
      classNames={{ input: 'fd-mono' }}
      mb="md"
    />
  );
}

export function TextField({
  name,
  label,
  description,
  value,
  onChange,
  ...more
}: TextFieldProps & { readonly inputMode?: 'numeric'; readonly isRequired?: boolean }): ReactNode {
  return (
    <TextInput
      label={label}
      description={description}
      error={useFieldError(name)}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      required={more.isRequired ?? false}
      inputMode={more.inputMode}
      autoComplete="off"
      spellCheck={false}
      mb="md"
    />
  );
}
