/** A dialog that gives a resource another name. */
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { EditForm, type SentChange } from './edit-form.tsx';
import { NameField } from './name-field.tsx';
import { useEdit, type Editable } from './use-edit.ts';

export function RenameDialog<T extends { readonly name: string }>(
  props: Editable<T> & {
    readonly title: string;
    readonly label: string;
    readonly submit: string;
    readonly change: SentChange;
    readonly onClose: () => void;
    /** `ifMatch` is the tag of the state that the name was typed over. */
    readonly onSubmit: (name: string, ifMatch: string | undefined) => void;
  },
): ReactNode {
  const { title, label, submit, now, reload, change, onClose, onSubmit } = props;
  const edit = useEdit({ now, reload, draftOf: ({ name }) => ({ name }) });
  const { name } = edit.draft;
  return (
    <Dialog title={title} isOpen onClose={onClose} size="md">
      <EditForm
        edit={edit}
        change={change}
        fields={['name']}
        submit={submit}
        onSubmit={() => onSubmit(name, edit.base.etag)}
        onCancel={onClose}
      >
        <NameField isFirst label={label} value={name} onChange={(typed) => edit.type({ name: typed })} />
      </EditForm>
    </Dialog>
  );
}
