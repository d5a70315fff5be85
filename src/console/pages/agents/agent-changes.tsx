/** Dialogs that rename an agent and delete it. Somebody else's change in between is not overwritten. */
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useChange } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { ConfirmDialog, Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { agentsText } from './agents-text.ts';

interface ChangeProps {
  readonly agent: AnswerOf<'getEnvironment'>;
  readonly etag: string | undefined;
  readonly onClose: () => void;
}

export function RenameAgent({
  agent,
  etag,
  onClose,
  onStale,
}: ChangeProps & { readonly onStale: () => void }): ReactNode {
  const [text, parts] = [useText(agentsText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const [ifMatch] = useState(etag);
  const [name, setName] = useState(agent.name);
  const rename = useChange('changeEnvironment', { refreshes: ['environment'], onDone: onClose });
  return (
    <Dialog title={text.renameTitle} isOpen onClose={onClose} size="md">
      <Form
        fields={['name']}
        error={rename.error}
        isPending={rename.isPending}
        submit={parts.save}
        onCancel={onClose}
        onStale={onStale}
        onSubmit={() => rename.mutate({ parameters: { frontdoorId, id: agent.id }, body: { name }, ifMatch })}
      >
        <NameField isFirst label={text.name} value={name} onChange={setName} />
      </Form>
    </Dialog>
  );
}

export function DeleteAgent({
  agent,
  etag,
  onClose,
  onDeleted,
}: ChangeProps & { readonly onDeleted: () => void }): ReactNode {
  const [text, format] = [useText(agentsText), useFormat()];
  const frontdoorId = useFrontdoorId();
  const [ifMatch] = useState(etag);
  const remove = useChange('deleteEnvironment', { onDone: onDeleted });
  return (
    <ConfirmDialog
      title={text.removeTitle(agent.name)}
      isOpen
      onClose={onClose}
      action={text.remove}
      typed={agent.name}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ parameters: { frontdoorId, id: agent.id }, ifMatch })}
    >
      <p>{text.removeText(agent.shareCount, format.number(agent.shareCount))}</p>
    </ConfirmDialog>
  );
}
