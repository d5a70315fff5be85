/** Dialogs that rename an agent and delete it. Someone else's change in between is not overwritten. */
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useChange } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { RenameDialog } from '../../parts/rename-dialog.tsx';
import type { Editable } from '../../parts/use-edit.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { agentsText } from './agents-text.ts';

type Agent = AnswerOf<'getEnvironment'>;

export function RenameAgent(
  props: Editable<Agent> & {
    readonly onClose: () => void;
  },
): ReactNode {
  const [text, parts] = [useText(agentsText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const { now, reload, onClose } = props;
  const { id } = now.body;
  const change = useChange('changeEnvironment', { refreshes: ['environment'], onDone: onClose });
  return (
    <RenameDialog
      title={text.renameTitle}
      label={text.name}
      submit={parts.save}
      now={now}
      reload={reload}
      change={change}
      onClose={onClose}
      onSubmit={(name, ifMatch) =>
        change.mutate({ parameters: { frontdoorId, id }, body: { name }, ifMatch })
      }
    />
  );
}

export function DeleteAgent({
  agent,
  etag,
  onClose,
  onDeleted,
}: {
  readonly agent: Agent;
  readonly etag: string | undefined;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
}): ReactNode {
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
