/** A secret that the API does not show again: a stored one is kept until the person replaces it. */
import { Button, Group, Input, PasswordInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useText } from '../../text/language.tsx';
import { MASK } from './provider-draft.ts';
import { providersText } from './providers-text.ts';

export function SecretField(props: {
  readonly label: string;
  readonly description: string | undefined;
  readonly error: string | undefined;
  readonly required: boolean;
  /** `MASK`: the stored one; '': none, or one that the service makes for an item of a list. */
  readonly value: string;
  readonly isItem: boolean;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const text = useText(providersText);
  const { label, description, error, value, isItem, onChange } = props;
  const [wasStored] = useState(value === MASK);
  if (value === MASK)
    return (
      <Input.Wrapper label={label} labelElement="div" error={error} mb="md">
        <Group gap="sm">
          <span className="fd-soft">{text.secretStored}</span>
          <Button
            size="xs"
            variant="default"
            aria-label={`${text.secretReplace}: ${label}`}
            onClick={() => onChange('')}
          >
            {text.secretReplace}
          </Button>
        </Group>
      </Input.Wrapper>
    );
  const ifEmpty = isItem ? text.secretMade : wasStored && !props.required ? text.secretRemoved : undefined;
  return (
    <>
      <PasswordInput
        label={label}
        description={[isItem ? undefined : description, ifEmpty].filter(Boolean).join(' ')}
        error={error}
        required={props.required}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        autoComplete="off"
        mb={wasStored ? 'xs' : 'md'}
      />
      {wasStored ? (
        <Button size="xs" variant="default" mb="md" onClick={() => onChange(MASK)}>
          {text.secretKeep}
        </Button>
      ) : null}
    </>
  );
}
