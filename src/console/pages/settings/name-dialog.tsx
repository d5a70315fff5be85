/** A dialog that asks for a name: to create something, or to rename it. */
import { TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Form, useFieldError } from '../../parts/form.tsx';
import { useText } from '../../text/language.tsx';
import { settingsText } from './settings-text.ts';

const MAX_NAME_CHARS = 255;

export function NameInput(props: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const text = useText(settingsText);
  return (
    <TextInput
      data-autofocus
      required
      maxLength={MAX_NAME_CHARS}
      label={text.name}
      value={props.value}
      error={useFieldError('name')}
      onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
    />
  );
}

export function NameDialog(props: {
  readonly title: string;
  readonly submit: string;
  readonly first?: string;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onClose: () => void;
  readonly onSubmit: (name: string) => void;
  readonly onStale?: () => void;
}): ReactNode {
  const [name, setName] = useState(props.first ?? '');
  return (
    <Dialog title={props.title} isOpen onClose={props.onClose} size="md">
      <Form
        fields={['name']}
        error={props.error}
        isPending={props.isPending}
        submit={props.submit}
        onSubmit={() => props.onSubmit(name)}
        onCancel={props.onClose}
        onStale={props.onStale}
      >
        <NameInput value={name} onChange={setName} />
      </Form>
    </Dialog>
  );
}
