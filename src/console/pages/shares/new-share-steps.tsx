/** The three steps of a new share: its service, its address, and who may come in. */
import { Alert, NativeSelect, Radio, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { AnswerView } from '../../parts/answer-view.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { LinkButton } from '../../parts/link-button.tsx';
import { useText } from '../../text/language.tsx';
import { newShareText } from './new-share-text.ts';
import { MAX_CHOICES, PickMany } from './pick-many.tsx';
import {
  FrontendsField,
  GrantsField,
  IngressFields,
  ModeField,
  TargetField,
  useSettled,
} from './reach-fields.tsx';
import { addressOn, isStream, streamAddressOn, type Lack, type ShareDraft } from './share-draft.ts';

export interface StepProps {
  readonly draft: ShareDraft;
  readonly onChange: (changes: Partial<ShareDraft>) => void;
  /** The missing value, once someone wanted to continue without it. */
  readonly lack: Lack | undefined;
}

export function WhatStep(props: StepProps): ReactNode {
  const text = useText(newShareText);
  const { draft, onChange, lack } = props;
  return (
    <>
      <AgentField {...props} />
      <TargetField
        value={draft.target}
        onChange={(target) => onChange({ target })}
        error={lack === 'target' ? text.lack(lack) : undefined}
      />
    </>
  );
}

function AgentField({ draft, onChange, lack }: StepProps): ReactNode {
  const text = useText(newShareText);
  const frontdoorId = useFrontdoorId();
  const [filter, setFilter] = useState('');
  const fieldError = useFieldError('environmentId');
  const name = useSettled(filter.trim());
  const answer = useAnswer('listEnvironments', {
    parameters: { frontdoorId },
    query: { size: MAX_CHOICES, sort: 'name,asc', name },
  });
  const { environmentId } = draft;
  return (
    <AnswerView answer={answer}>
      {({ body: { content: agents } }) =>
        agents.length === 0 && name === '' ? (
          <div>
            <p>{text.noAgents}</p>
            <LinkButton to="/frontdoors/$frontdoorId/agents/new" params={{ frontdoorId }}>
              {text.addAgent}
            </LinkButton>
          </div>
        ) : (
          <>
            {agents.length >= MAX_CHOICES || filter !== '' ? (
              <TextInput
                type="search"
                label={text.agentFilter}
                value={filter}
                onChange={({ currentTarget }) => setFilter(currentTarget.value)}
              />
            ) : null}
            <NativeSelect
              required
              label={text.agent}
              value={environmentId}
              error={lack === 'environmentId' ? text.lack(lack) : fieldError}
              onChange={({ currentTarget }) => onChange({ environmentId: currentTarget.value })}
              data={[
                { value: '', label: text.chooseAgent },
                ...(environmentId === '' || agents.some(({ id }) => id === environmentId)
                  ? []
                  : [{ value: environmentId, label: environmentId }]),
                ...agents.map(({ id, name: label, status }) => ({
                  value: id,
                  label: status === 'INACTIVE' ? text.agentAway(label) : label,
                })),
              ]}
            />
          </>
        )
      }
    </AnswerView>
  );
}

export function WhereStep({ draft, onChange }: StepProps): ReactNode {
  const text = useText(newShareText);
  return (
    <>
      <ModeField value={draft.shareMode} onChange={(shareMode) => onChange({ shareMode })} />
      <TextInput
        label={text.name}
        description={text.nameHint}
        value={draft.name}
        maxLength={63}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        error={useFieldError('name')}
        onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
      />
      {draft.shareMode === 'public' ? (
        <>
          <FrontendsField chosen={draft.frontendIds} onChange={(frontendIds) => onChange({ frontendIds })} />
          <IngressFields draft={draft} set={onChange} />
          <Preview draft={draft} />
        </>
      ) : null}
    </>
  );
}

function Preview({ draft }: { readonly draft: ShareDraft }): ReactNode {
  const text = useText(newShareText);
  const frontends =
    useAnswer('listFrontends', { parameters: { frontdoorId: useFrontdoorId() } }).data?.body ?? [];
  const { frontendIds, name } = draft;
  // Which one is the default is not known here unless there is only one.
  const shown = frontendIds.length === 0 && frontends.length > 1 ? [] : frontends;
  const addresses = shown
    .filter(({ id }) => frontendIds.length === 0 || frontendIds.includes(id))
    .map(({ urlTemplate }) =>
      isStream(draft) ? streamAddressOn(urlTemplate, draft) : addressOn(urlTemplate, name),
    );
  if (addresses.length === 0) return null;
  return (
    <div>
      {text.willBe}
      {addresses.map((address) => (
        <div key={address} className="fd-mono">
          {address}
        </div>
      ))}
    </div>
  );
}

export function WhoStep(props: StepProps): ReactNode {
  const text = useText(newShareText);
  const { draft, onChange, lack } = props;
  if (draft.shareMode === 'private')
    return (
      <GrantsField
        ownId={draft.environmentId}
        chosen={draft.grants}
        onChange={(grants) => onChange({ grants })}
      />
    );
  return (
    <>
      <Radio.Group
        label={text.guard}
        value={draft.guard}
        error={lack === 'guard' ? text.lack(lack) : undefined}
        onChange={(guard) => onChange({ guard: guard === 'everybody' ? 'everybody' : 'providers' })}
      >
        <div className="fd-choices">
          {isStream(draft) ? null : (
            <Radio value="providers" label={text.guardProviders} description={text.guardProvidersHint} />
          )}
          <Radio value="everybody" label={text.guardEverybody} />
        </div>
      </Radio.Group>
      {draft.guard === 'everybody' ? (
        <Alert variant="outline" color="yellow" icon={<Icon name="warning" />} role="alert">
          {isStream(draft) ? text.streamWarning : text.everybodyWarning}
        </Alert>
      ) : null}
      {draft.guard === 'providers' && !isStream(draft) ? <ProvidersField {...props} /> : null}
    </>
  );
}

function ProvidersField({ draft, onChange, lack }: StepProps): ReactNode {
  const text = useText(newShareText);
  const frontdoorId = useFrontdoorId();
  const [filter, setFilter] = useState('');
  const answer = useAnswer('listAuthProviders', {
    parameters: { frontdoorId },
    query: { size: MAX_CHOICES, sort: 'name,asc', name: useSettled(filter.trim()) },
  });
  return (
    <AnswerView answer={answer}>
      {({ body }) => (
        <PickMany
          label={text.providers}
          field="authProviderIds"
          error={lack === 'authProviderIds' ? text.lack(lack) : undefined}
          choices={body.content.map(({ id, name, type, enabled }) => ({
            id,
            label: enabled ? name : text.disabled(name),
            hint: type,
          }))}
          chosen={draft.authProviderIds}
          onChange={(authProviderIds) => onChange({ authProviderIds })}
          filter={filter}
          onFilter={setFilter}
          empty={
            <>
              <p>{text.noProviders}</p>
              <LinkButton variant="default" to="/frontdoors/$frontdoorId/providers" params={{ frontdoorId }}>
                {text.addProvider}
              </LinkButton>
            </>
          }
        />
      )}
    </AnswerView>
  );
}
