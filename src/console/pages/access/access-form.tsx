/** Sign-in providers and rules of a share in one form: one review, one save. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ShareAnswer, SharePolicyAnswer, SharePolicyBody } from '#contract/schemas';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { ApiText } from '../../parts/api-text.tsx';
import { EditForm, type SentChange } from '../../parts/edit-form.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import { joinedEdit, type Edit } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { ProviderChoice } from '../providers/provider-choice.tsx';
import { accessText } from './access-text.ts';
import { PolicyChoice } from './policy-choice.tsx';
import type { PolicyDraft } from './policy-draft.ts';
import { questionText } from './question-text.ts';
import { ReviewDialog } from './review-dialog.tsx';
import { fieldsOf, RuleCards, useOpenRules, type OpenRules } from './rule-cards.tsx';
import type { AccessDraft, Explanations } from './use-explanations.ts';
import { useReview } from './use-review.ts';

type ProviderDraft = Pick<ShareAnswer, 'authProviderIds' | 'policyId'>;

export interface AccessEdits {
  readonly providers: Edit<ShareAnswer, ProviderDraft>;
  readonly rules: Edit<SharePolicyAnswer, PolicyDraft>;
  /** The policy that the draft makes. */
  readonly wanted: SharePolicyBody;
  /** Names of its fields that differ from what is stored. */
  readonly changed: readonly string[];
  /** What differs, for questions and comparisons. */
  readonly draft: AccessDraft;
}

export function AccessForm(props: {
  readonly edits: AccessEdits;
  readonly parameters: { readonly frontdoorId: string; readonly token: string };
  readonly explanations: Explanations;
  /** Whether there are rules about people that no chosen provider proves. */
  readonly isNobodyProven: boolean;
}): ReactNode {
  const [text, questions, parts] = [useText(accessText), useText(questionText), useText(partsText)];
  const { edits, parameters, explanations } = props;
  const { providers, rules, wanted, draft } = edits;
  const cards = useOpenRules();
  const mayChange = useSession().may('replaceSharePolicy');
  const review = useReview(parameters, explanations);
  const save = useAccessSave(edits, parameters, () => {
    review.close();
    cards.closeAll();
    explanations.askAgain({});
  });
  const change = review.changeOf(save);
  const { policyId } = providers.draft;
  const changed = changedNames(edits);
  // The rules of the chosen policy are still on their way.
  const isUnread = changed.includes('policyId') && policyId !== null && draft.policy === undefined;
  return (
    <Panel title={text.policy}>
      <p className="fd-soft">{text.policyIntro}</p>
      <Warnings warnings={rules.base.body.warnings} />
      {mayChange ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      <EditForm
        edit={joinedEdit(providers, rules)}
        change={change}
        fields={['authProviderIds', 'policyId', ...fieldsOf(cards, rules.draft)]}
        isDisabled={changed.length === 0 || !mayChange || isUnread}
        submit={text.review}
        saved={text.saved}
        onSubmit={() => {
          save.reset();
          // Without any field the API would compare with no rules at all.
          const same = draft.authProviderIds === undefined ? wanted : {};
          review.begin({ ...(draft.policy ?? same), ...providersOf(draft) }, draft);
        }}
      >
        {/* Nothing in it can be changed by who may not change it. */}
        <fieldset className="fd-bare" disabled={!mayChange}>
          <AccessFields
            edits={edits}
            cards={cards}
            mayChange={mayChange}
            isNobodyProven={props.isNobodyProven}
          />
        </fieldset>
        {changed.length === 0 ? null : (
          <Button
            variant="subtle"
            onClick={() => {
              change.reset();
              cards.closeAll();
              providers.discard();
              rules.discard();
            }}
          >
            {text.discard}
          </Button>
        )}
      </EditForm>
      <ReviewDialog
        review={review}
        changed={changed}
        explanations={explanations}
        save={save}
        submit={questions.save}
        onSave={() => save.send(review.onError)}
      />
    </Panel>
  );
}

function changedNames({ providers, changed, draft }: AccessEdits): readonly string[] {
  const isOther = providers.draft.policyId !== providers.base.body.policyId;
  const ofShare = [
    ...(draft.authProviderIds === undefined ? [] : ['authProviderIds']),
    ...(isOther ? ['policyId'] : []),
  ];
  return [...ofShare, ...changed];
}

function AccessFields(props: {
  readonly edits: AccessEdits;
  readonly cards: OpenRules;
  readonly mayChange: boolean;
  readonly isNobodyProven: boolean;
}): ReactNode {
  const { providers, rules, wanted } = props.edits;
  const { policyId } = providers.draft;
  return (
    <>
      <Providers edits={props.edits} isNobodyProven={props.isNobodyProven} />
      <PolicyChoice value={policyId} onChange={(chosen) => providers.type({ policyId: chosen })} />
      {policyId === null ? (
        <RuleCards
          draft={rules.draft}
          set={rules.type}
          wanted={wanted}
          rules={props.cards}
          mayChange={props.mayChange}
        />
      ) : null}
    </>
  );
}

function providersOf({ authProviderIds }: AccessDraft): AccessDraft {
  return authProviderIds === undefined ? {} : { authProviderIds };
}

interface AccessSave extends SentChange {
  /** Saves what differs, providers and policy one after the other. `onError` is called with the first failure. */
  send(onError: (error: Error) => void): void;
}

/**
 * A policy with rules about people needs its provider first; without these rules the provider may go only after them. Own rules
 * are changed once the share has left its policy.
 */
function useAccessSave(
  { providers, rules, wanted, changed, draft }: AccessEdits,
  parameters: { readonly frontdoorId: string; readonly token: string },
  onDone: () => void,
): AccessSave {
  const share = useChange('changeShare', {
    refreshes: ['share'],
    onDone: (answer) => providers.saved(answer),
  });
  const policy = useChange('replaceSharePolicy', {
    refreshes: ['share'],
    onDone: (answer) => rules.saved(answer),
  });
  const { authProviderIds } = draft;
  const { policyId } = providers.draft;
  const isOtherPolicy = policyId !== providers.base.body.policyId;
  const saveShare = async () => {
    if (authProviderIds === undefined && !isOtherPolicy) return;
    const body = { ...providersOf(draft), ...(isOtherPolicy ? { policyId } : {}) };
    await share.mutateAsync({ parameters, body, ifMatch: providers.base.etag });
  };
  const savePolicy = async () => {
    if (changed.length === 0) return;
    await policy.mutateAsync({ parameters, body: wanted, ifMatch: rules.base.etag });
  };
  const hasPeople = (wanted.emails ?? []).length + (wanted.claims ?? []).length > 0;
  const saveAll = async () => {
    for (const each of hasPeople || isOtherPolicy ? [saveShare, savePolicy] : [savePolicy, saveShare])
      await each();
  };
  return {
    error: share.error ?? policy.error,
    isPending: share.isPending || policy.isPending,
    isSuccess: share.isSuccess || policy.isSuccess,
    reset: () => {
      share.reset();
      policy.reset();
    },
    send: (onError) => void saveAll().then(onDone, onError),
  };
}

function Providers({
  edits: { providers, wanted },
  isNobodyProven,
}: {
  readonly edits: AccessEdits;
  readonly isNobodyProven: boolean;
}): ReactNode {
  const text = useText(accessText);
  const mayChange = useSession().may('changeShare');
  const { authProviderIds: chosen } = providers.draft;
  const hasUsers = (wanted.basicAuth ?? []).length > 0;
  return (
    <>
      <ProviderChoice
        label={text.providers}
        description={chosen.length === 0 ? text.providersOpen : text.providersHelp}
        value={chosen}
        isDisabled={!mayChange}
        onChange={(ids) => providers.type({ authProviderIds: [...ids] })}
      />
      {isNobodyProven ? (
        <div role="status" className="fd-wrap">
          <StateBadge tone="bad">{text.nobodyProven}</StateBadge>
        </div>
      ) : null}
      {chosen.length > 0 || hasUsers || isNobodyProven ? null : (
        <div role="status" className="fd-wrap">
          <StateBadge tone="warn">{text.providersOpenWarning}</StateBadge>
        </div>
      )}
    </>
  );
}

/** What the API says about the stored policy. One of an earlier version says nothing. */
function Warnings({ warnings = [] }: Partial<Pick<SharePolicyAnswer, 'warnings'>>): ReactNode {
  return warnings.map(({ field, message }) => (
    <p key={field} className="fd-warn">
      <ApiText>{message}</ApiText>
    </p>
  ));
}
