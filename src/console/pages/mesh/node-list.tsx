/** What the lists of routers and of gateways have in common: the state of one, and the creation with its token. */
import { useState, type ReactNode } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { SecretOnceDialog } from '../../parts/secret-once.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useText } from '../../text/language.tsx';
import { meshText } from './mesh-text.ts';

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
        <NameField isFirst label={text.name} value={name} onChange={setName} />
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
