/** The name and the settings of an organization. */
import { Switch } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer, useChange } from '../../api/queries.ts';
import { AnswerView } from '../../parts/answer-view.tsx';
import { Form } from '../../parts/form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { useText } from '../../text/language.tsx';
import { OtherOrganization, useOrganizationId } from './organization-choice.tsx';
import { settingsText } from './settings-text.ts';

interface FormProps<Id extends 'getOrganization' | 'getOrganizationSettings'> {
  readonly organizationId: string;
  readonly current: AnswerOf<Id>;
  readonly etag: string | undefined;
  readonly onStale: () => void;
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
          {({ body, etag }) => (
            <RenameForm
              key={etag}
              organizationId={organizationId}
              current={body}
              etag={etag}
              onStale={() => void organization.refetch()}
            />
          )}
        </AnswerView>
      </Panel>
      <Panel title={text.settings}>
        <AnswerView answer={settings}>
          {({ body, etag }) => (
            <SettingsForm
              key={etag}
              organizationId={organizationId}
              current={body}
              etag={etag}
              onStale={() => void settings.refetch()}
            />
          )}
        </AnswerView>
      </Panel>
    </>
  );
}

function RenameForm({ organizationId, current, etag, onStale }: FormProps<'getOrganization'>): ReactNode {
  const text = useText(settingsText);
  const [name, setName] = useState(current.name);
  const { mutate, error, isPending } = useChange('changeOrganization', { refreshes: ['organization'] });
  return (
    <Form
      fields={['name']}
      error={error}
      isPending={isPending}
      isDisabled={name === current.name}
      submit={text.rename}
      onStale={onStale}
      onSubmit={() => mutate({ parameters: { organizationId }, body: { name }, ifMatch: etag })}
    >
      <NameField label={text.name} value={name} onChange={setName} />
    </Form>
  );
}

function SettingsForm({
  organizationId,
  current,
  etag,
  onStale,
}: FormProps<'getOrganizationSettings'>): ReactNode {
  const text = useText(settingsText);
  const [tokenExchange, setTokenExchange] = useState(current.tokenExchange);
  const [secondFactor, setSecondFactor] = useState(current.secondFactor);
  const { mutate, error, isPending } = useChange('changeOrganizationSettings', {
    refreshes: ['organization'],
  });
  return (
    <Form
      fields={[]}
      error={error}
      isPending={isPending}
      isDisabled={tokenExchange === current.tokenExchange && secondFactor === current.secondFactor}
      submit={text.save}
      onStale={onStale}
      onSubmit={() =>
        mutate({ parameters: { organizationId }, body: { tokenExchange, secondFactor }, ifMatch: etag })
      }
    >
      <Switch
        mb="md"
        label={text.demandFactor}
        description={text.demandFactorText}
        checked={secondFactor}
        onChange={({ currentTarget }) => setSecondFactor(currentTarget.checked)}
      />
      <Switch
        label={text.tokenExchange}
        checked={tokenExchange}
        onChange={({ currentTarget }) => setTokenExchange(currentTarget.checked)}
      />
    </Form>
  );
}
