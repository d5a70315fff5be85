/** The name and the settings of an organization. */
import { Switch } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { reloadOf, useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { EndedSessions } from './ended-sessions.tsx';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { SignInPagePanel } from './sign-in-page-panel.tsx';
import { settingsText } from './settings-text.ts';

interface FormProps<Id extends 'getOrganization' | 'getOrganizationSettings'> extends Editable<AnswerOf<Id>> {
  readonly organizationId: string;
}

export function OrganizationPage(): ReactNode {
  const text = useText(settingsText);
  const organizationId = useOrganizationId();
  const parameters = { organizationId };
  const organization = useAnswer('getOrganization', { parameters });
  const settings = useAnswer('getOrganizationSettings', { parameters });
  return (
    <>
      <PageTitle title={text.organization} />
      <OtherOrganization />
      <Panel title={text.name}>
        <AnswerView answer={organization}>
          {(now) => (
            <RenameForm
              key={organizationId}
              organizationId={organizationId}
              now={now}
              reload={reloadOf(organization)}
            />
          )}
        </AnswerView>
      </Panel>
      <SignInPagePanel key={`sign-in ${organizationId}`} organizationId={organizationId} />
      <Panel title={text.settings}>
        <AnswerView answer={settings}>
          {(now) => (
            <SettingsForm
              key={organizationId}
              organizationId={organizationId}
              now={now}
              reload={reloadOf(settings)}
            />
          )}
        </AnswerView>
      </Panel>
    </>
  );
}

function RenameForm({ organizationId, now, reload }: FormProps<'getOrganization'>): ReactNode {
  const text = useText(settingsText);
  const edit = useEdit({ now, reload, draftOf: ({ name }) => ({ name }) });
  const change = useChange('changeOrganization', { refreshes: ['organization'], onDone: edit.saved });
  const { etag } = edit.base;
  return (
    <EditForm
      edit={edit}
      change={change}
      fields={['name']}
      submit={text.rename}
      onSubmit={() => change.mutate({ parameters: { organizationId }, body: edit.draft, ifMatch: etag })}
    >
      <NameField label={text.name} value={edit.draft.name} onChange={(name) => edit.type({ name })} />
    </EditForm>
  );
}

function SettingsForm({ organizationId, now, reload }: FormProps<'getOrganizationSettings'>): ReactNode {
  const text = useText(settingsText);
  const edit = useEdit({
    now,
    reload,
    draftOf: ({ tokenExchange, secondFactor }) => ({ tokenExchange, secondFactor }),
  });
  const [isAsking, setAsking] = useState(false);
  const change = useChange('changeOrganizationSettings', {
    refreshes: ['organization', 'console-session'],
    onDone: (answer) => {
      setAsking(false);
      edit.saved(answer);
    },
  });
  const { body: before, etag } = edit.base;
  const send = () => change.mutate({ parameters: { organizationId }, body: edit.draft, ifMatch: etag });
  const endsSessions = edit.draft.secondFactor && !before.secondFactor;
  return (
    <>
      <EditForm
        edit={edit}
        change={change}
        fields={[]}
        submit={text.save}
        onSubmit={() => (endsSessions ? setAsking(true) : send())}
      >
        <Switch
          mb="md"
          label={text.demandFactor}
          description={text.demandFactorText}
          checked={edit.draft.secondFactor}
          onChange={({ currentTarget }) => edit.type({ secondFactor: currentTarget.checked })}
        />
        <Switch
          label={text.tokenExchange}
          checked={edit.draft.tokenExchange}
          onChange={({ currentTarget }) => edit.type({ tokenExchange: currentTarget.checked })}
        />
      </EditForm>
      {isAsking ? (
        <ConfirmDialog
          title={text.demand}
          isOpen
          onClose={() => setAsking(false)}
          action={text.demand}
          error={change.error}
          isPending={change.isPending}
          onStale={() => void edit.loadNew().then(() => setAsking(false))}
          onConfirm={send}
        >
          <EndedSessions query={{ organizationId, logIn: 'password' }} />
          <p>{text.demandNext}</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}
