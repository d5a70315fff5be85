/** A described request, and the decision of a gateway about it, now and with the changes that are not saved yet. */
import { Checkbox, Fieldset, NativeSelect } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { ShareAnswer } from '#contract/schemas';
import { Form, useFieldError } from '../../parts/form.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { LinesField, TextField } from '../../parts/text-field.tsx';
import { TimeInput } from '../../parts/time-input.tsx';
import { useText } from '../../text/language.tsx';
import { useProviderEntries } from '../providers/provider-choice.tsx';
import { ExplanationView, isSameVerdict } from './explanation-view.tsx';
import { EMPTY_QUESTION, questionOf, type Credential, type QuestionDraft } from './question-draft.ts';
import { questionText } from './question-text.ts';
import type { AccessDraft, Explanations } from './use-explanations.ts';

const FIELDS = [
  'host',
  'method',
  'origin',
  'path',
  'address',
  'at',
  'providerId',
  'email',
  'groups',
  'claims',
  'keyName',
  'basicUser',
  'certificateName',
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const CREDENTIALS: readonly Credential[] = ['none', 'person', 'key', 'basic'];

interface SectionProps {
  readonly draft: QuestionDraft;
  readonly set: (changes: Partial<QuestionDraft>) => void;
}

export function QuestionPanel(props: {
  readonly share: ShareAnswer;
  /** The log-ins of the share, and those that are not saved. */
  readonly providerIds: readonly string[];
  readonly explanations: Explanations;
  readonly draft: AccessDraft;
}): ReactNode {
  const text = useText(questionText);
  const { share, explanations } = props;
  const [draft, setDraft] = useState(EMPTY_QUESTION);
  const [isUnreadable, setUnreadable] = useState(false);
  const set = (changes: Partial<QuestionDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const ask = () => {
    const question = questionOf(draft);
    setUnreadable(question === undefined);
    if (question !== undefined) explanations.ask(question, props.draft);
  };
  return (
    <Panel title={text.question}>
      <p className="fd-soft">{text.questionIntro}</p>
      <Form
        fields={FIELDS}
        error={explanations.error}
        isPending={explanations.isPending}
        submit={text.ask}
        hasInput={false}
        onSubmit={ask}
      >
        <WhoSection draft={draft} set={set} isUnreadable={isUnreadable} providerIds={props.providerIds} />
        <RequestSection draft={draft} set={set} share={share} />
      </Form>
      <div aria-live="polite">
        <Answers explanations={explanations} />
      </div>
    </Panel>
  );
}

function Answers({
  explanations: { now, draft, error },
}: {
  readonly explanations: Explanations;
}): ReactNode {
  const text = useText(questionText);
  if (now === undefined || error !== null) return null;
  if (draft === undefined) return <ExplanationView title={text.decision} explanation={now} />;
  const isSame = isSameVerdict(now, draft);
  return (
    <>
      <p className="fd-wrap">
        <StateBadge tone={isSame ? 'soft' : 'warn'}>
          {isSame ? text.keepsDecision : text.changesDecision}
        </StateBadge>
      </p>
      <div className="fd-pair">
        <ExplanationView title={text.nowShort} explanation={now} />
        <ExplanationView title={text.draftShort} explanation={draft} />
      </div>
    </>
  );
}

function WhoSection({
  draft,
  set,
  isUnreadable,
  providerIds,
}: SectionProps & { readonly isUnreadable: boolean; readonly providerIds: readonly string[] }): ReactNode {
  const text = useText(questionText);
  const { credential } = draft;
  return (
    <>
      <NativeSelect
        mb="md"
        label={text.asWho}
        value={credential}
        onChange={({ currentTarget }) => set({ credential: currentTarget.value as Credential })}
        data={CREDENTIALS.map((kind) => ({ value: kind, label: text.credentials(kind) }))}
      />
      {credential === 'person' || credential === 'key' ? (
        <ProviderField draft={draft} set={set} providerIds={providerIds} />
      ) : null}
      {credential === 'person' ? (
        <>
          <TextField
            name="email"
            label={text.email}
            value={draft.email}
            onChange={(email) => set({ email })}
          />
          <Checkbox
            mb="md"
            label={text.emailVerified}
            checked={draft.emailVerified}
            onChange={({ currentTarget }) => set({ emailVerified: currentTarget.checked })}
          />
          <LinesField
            name="groups"
            label={text.groups}
            description={text.groupsHelp}
            value={draft.groups}
            onChange={(groups) => set({ groups })}
          />
          <LinesField
            name="claims"
            label={text.otherClaims}
            description={isUnreadable ? text.claimsNotJson : text.otherClaimsHelp}
            value={draft.claims}
            onChange={(claims) => set({ claims })}
          />
        </>
      ) : null}
      {credential === 'key' ? (
        <TextField
          name="keyName"
          label={text.keyName}
          value={draft.keyName}
          onChange={(keyName) => set({ keyName })}
        />
      ) : null}
      {credential === 'basic' ? (
        <TextField
          name="basicUser"
          label={text.credentials('basic')}
          value={draft.basicUser}
          onChange={(basicUser) => set({ basicUser })}
        />
      ) : null}
      <TextField
        name="address"
        label={text.address}
        description={text.addressHelp}
        value={draft.address}
        onChange={(address) => set({ address })}
      />
    </>
  );
}

function ProviderField({
  draft,
  set,
  providerIds,
}: SectionProps & { readonly providerIds: readonly string[] }): ReactNode {
  const text = useText(questionText);
  const all = useProviderEntries().data?.body.content ?? [];
  const names = new Map(all.map(({ id, name }) => [id, name]));
  return (
    <NativeSelect
      mb="md"
      label={text.loggedInWith}
      error={useFieldError('providerId')}
      value={draft.providerId}
      onChange={({ currentTarget }) => set({ providerId: currentTarget.value })}
      data={[
        { value: '', label: text.anyProvider },
        ...providerIds.map((id) => ({ value: id, label: names.get(id) ?? id })),
      ]}
    />
  );
}

function RequestSection({ draft, set, share }: SectionProps & { readonly share: ShareAnswer }): ReactNode {
  const text = useText(questionText);
  const hostError = useFieldError('host');
  const hosts = share.frontendEndpoints.flatMap((address) => {
    const url = URL.parse(address);
    return url === null ? [] : [url.hostname];
  });
  return (
    <>
      <TextField name="path" label={text.path} value={draft.path} onChange={(path) => set({ path })} />
      <NativeSelect
        mb="md"
        label={text.method}
        error={useFieldError('method')}
        value={draft.method}
        onChange={({ currentTarget }) => set({ method: currentTarget.value })}
        data={METHODS}
      />
      <TimeInput
        label={text.at}
        description={text.atHelp}
        error={useFieldError('at')}
        value={draft.at}
        onChange={(at) => set({ at })}
      />
      <details className="fd-details">
        <summary>{text.moreQuestions}</summary>
        <Fieldset legend={text.moreQuestions} mb="md">
          {hosts.length < 2 ? null : (
            <NativeSelect
              mb="md"
              label={text.host}
              error={hostError}
              value={draft.host === '' ? hosts[0] : draft.host}
              onChange={({ currentTarget }) => set({ host: currentTarget.value })}
              data={hosts}
            />
          )}
          <TextField
            name="origin"
            label={text.origin}
            description={text.originHelp}
            value={draft.origin}
            onChange={(origin) => set({ origin })}
          />
          <Checkbox
            mb="md"
            label={text.preflight}
            checked={draft.preflight}
            disabled={draft.method !== 'OPTIONS'}
            onChange={({ currentTarget }) => set({ preflight: currentTarget.checked })}
          />
          <TextField
            name="certificateName"
            label={text.certificateName}
            value={draft.certificateName}
            onChange={(certificateName) => set({ certificateName })}
          />
        </Fieldset>
      </details>
    </>
  );
}
