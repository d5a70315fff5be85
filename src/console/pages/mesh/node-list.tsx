/** What the lists of routers and of gateways have in common: the state of one, and the creation with its token. */
import { TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Form, useFieldError } from '../../parts/form.tsx';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

const MAX_NAME_CHARS = 255;

export function NodeState({
  node,
}: {
  readonly node: { readonly enrolled: boolean; readonly online: boolean };
}): ReactNode {
  const text = useText(meshText);
  if (!node.enrolled) return <StateBadge tone="soft">{text.notEnrolled}</StateBadge>;
  return (
    <StateBadge tone={node.online ? 'good' : 'bad'}>{node.online ? text.online : text.offline}</StateBadge>
  );
}

export function NameField(props: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactNode {
  const text = useText(meshText);
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

export function CreateNode(props: {
  readonly title: string;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onClose: () => void;
  readonly onSubmit: (name: string) => void;
}): ReactNode {
  const text = useText(meshText);
  const [name, setName] = useState('');
  return (
    <Dialog title={props.title} isOpen onClose={props.onClose} size="md">
      <Form
        fields={['name']}
        error={props.error}
        isPending={props.isPending}
        submit={text.create}
        onCancel={props.onClose}
        onSubmit={() => props.onSubmit(name)}
      >
        <NameField value={name} onChange={setName} />
      </Form>
    </Dialog>
  );
}

/** The token, in a file of its own, and the command that takes it. */
export function EnrollDialog(props: {
  readonly token: string | undefined;
  readonly command: string;
  readonly onClose: () => void;
}): ReactNode {
  const text = useText(meshText);
  const { token, command, onClose } = props;
  return (
    <SecretOnceDialog
      title={text.enroll}
      facts={
        token === undefined
          ? undefined
          : [
              [text.token, token],
              [text.command, command],
            ]
      }
      onClose={onClose}
    >
      <p>{text.enrollText}</p>
    </SecretOnceDialog>
  );
}
