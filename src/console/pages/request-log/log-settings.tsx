/** How much of the request log is kept: a button for operators, and its form. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { RequestLogAnswer } from '#contract/schemas';
import { useAnswer, useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { FlagField } from '../../parts/flag-field.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { numberOf } from '../../parts/typed-number.ts';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { requestLogText } from './request-log-text.ts';

const LIMITS = ['keptHours', 'maxEntries', 'maxMebibytes'] as const;

export function LogSettingsButton(): ReactNode {
  const text = useText(requestLogText);
  const { may } = useSession();
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  if (!may('setRequestLog')) return null;
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        {text.settings}
      </Button>
      {isOpen ? (
        <Dialog title={text.settingsTitle} isOpen onClose={close}>
          <LogSettings onClose={close} />
        </Dialog>
      ) : null}
    </>
  );
}

function LogSettings({ onClose }: { readonly onClose: () => void }): ReactNode {
  const answer = useAnswer('getRequestLog', { parameters: { frontdoorId: useFrontdoorId() } });
  return (
    <AnswerView answer={answer}>
      {(now) => <LogSettingsForm now={now} reload={reloadOf(answer)} onClose={onClose} />}
    </AnswerView>
  );
}

function LogSettingsForm({
  now,
  reload,
  onClose,
}: Editable<RequestLogAnswer> & { readonly onClose: () => void }): ReactNode {
  const [text, format] = [useText(requestLogText), useFormat()];
  const parameters = { frontdoorId: useFrontdoorId() };
  const edit = useEdit({
    now,
    reload,
    draftOf: ({ enabled, keptHours, maxEntries, maxMebibytes }) => ({
      enabled,
      keptHours: String(keptHours),
      maxEntries: String(maxEntries),
      maxMebibytes: String(maxMebibytes),
    }),
  });
  const { body: before, etag } = edit.base;
  const { draft } = edit;
  const change = useChange('setRequestLog', {
    refreshes: ['request-log'],
    onDone: (answer) => {
      edit.saved(answer);
      onClose();
    },
  });
  const limits = Object.fromEntries(LIMITS.map((name) => [name, numberOf(draft[name])]));
  const isLess = LIMITS.some((name) => Number(draft[name]) < before[name]);
  return (
    <EditForm
      edit={edit}
      change={change}
      fields={['enabled', ...LIMITS]}
      submit={text.save}
      onCancel={onClose}
      onSubmit={() =>
        change.mutate({ parameters, body: { enabled: draft.enabled, ...limits }, ifMatch: etag })
      }
    >
      <p className="fd-soft">{text.settingsText}</p>
      <FlagField
        name="enabled"
        label={text.enabled}
        description={text.enabledHelp}
        value={draft.enabled}
        onChange={(enabled) => edit.type({ enabled })}
      />
      {LIMITS.map((name) => (
        <TextField
          key={name}
          name={name}
          label={text[name]}
          description={text.limitHelp(name)}
          inputMode="numeric"
          value={draft[name]}
          onChange={(value) => edit.type({ [name]: value })}
        />
      ))}
      <p role="status" className="fd-warn">
        {before.enabled && !draft.enabled
          ? text.removesAll(before.entries, format.number(before.entries))
          : isLess
            ? text.removesSome
            : null}
      </p>
    </EditForm>
  );
}
