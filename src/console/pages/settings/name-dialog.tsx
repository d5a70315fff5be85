/** A dialog that asks for a name, to create something. */
import { useState, type ReactNode } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { useText } from '../../text/language.tsx';
import { settingsText } from './settings-text.ts';

export function NameDialog(props: {
  readonly title: string;
  readonly submit: string;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly onClose: () => void;
  readonly onSubmit: (name: string) => void;
}): ReactNode {
  const text = useText(settingsText);
  const [name, setName] = useState('');
  return (
    <Dialog title={props.title} isOpen onClose={props.onClose} size="md">
      <Form
        fields={['name']}
        error={props.error}
        isPending={props.isPending}
        submit={props.submit}
        onSubmit={() => props.onSubmit(name)}
        onCancel={props.onClose}
      >
        <NameField isFirst label={text.name} value={name} onChange={setName} />
      </Form>
    </Dialog>
  );
}
