/**
 * Access to a public share. The drafts of its log-ins and of its policy are known here, because questions are asked about it,
 * too, before it is saved.
 */
import type { ReactNode } from 'react';
import type { ShareAnswer, SharePolicyAnswer } from '#contract/schemas';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { useEdit, type ReadState } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { useProviderEntries } from '../providers/provider-choice.tsx';
import { hasKeys } from '../providers/type-facts.ts';
import { AccessForm } from './access-form.tsx';
import { AccessSentences } from './access-sentences.tsx';
import { accessText } from './access-text.ts';
import { usePolicy } from './policy-choice.tsx';
import { changedFields, policyDraftOf, policyOf, rulesOfPolicy, rulesOfShare } from './policy-draft.ts';
import { QuestionPanel } from './question-panel.tsx';
import { useExplanations, type AccessDraft } from './use-explanations.ts';

export function PublicAccess(props: {
  readonly share: ReadState<ShareAnswer>;
  readonly reloadShare: () => Promise<ReadState<ShareAnswer> | undefined>;
  readonly policy: ReadState<SharePolicyAnswer>;
  readonly reloadPolicy: () => Promise<ReadState<SharePolicyAnswer> | undefined>;
}): ReactNode {
  const { share, policy } = props;
  const parameters = { frontdoorId: useFrontdoorId(), token: share.body.token };
  const providers = useEdit({
    now: share,
    reload: props.reloadShare,
    draftOf: ({ authProviderIds, policyId }) => ({ authProviderIds, policyId }),
  });
  const rules = useEdit({ now: policy, reload: props.reloadPolicy, draftOf: policyDraftOf });
  const text = useText(accessText);
  const explanations = useExplanations(parameters);
  const read = rulesOfShare(rules.base.body);
  const wanted = policyOf(rules.draft, read);
  const changed = changedFields(read, wanted);
  const { authProviderIds, policyId } = providers.draft;
  const standing = providers.base.body.policyId;
  const other = usePolicy(policyId === standing ? null : policyId);
  // Rules of its own do not count while it uses a policy.
  const own = policyId === null && changed.length > 0 ? wanted : undefined;
  const compared = other === undefined ? own : rulesOfPolicy(other);
  const ofProviders: AccessDraft = isSameChoice(authProviderIds, providers.base.body.authProviderIds)
    ? {}
    : { authProviderIds: [...authProviderIds] };
  const draft = compared === undefined ? ofProviders : { ...ofProviders, policy: compared };
  const applying = compared ?? wanted;
  const hasRulesOnPeople = (applying.emails ?? []).length + (applying.claims ?? []).length > 0;
  const provesPeople = useProvesPeople(authProviderIds);
  return (
    <>
      <Panel title={text.now}>
        <AccessSentences policy={policy.body} providerIds={share.body.authProviderIds} />
      </Panel>
      <AccessForm
        edits={{ providers, rules, wanted, changed: policyId === null ? changed : [], draft }}
        parameters={parameters}
        explanations={explanations}
        isNobodyProven={hasRulesOnPeople && !provesPeople}
      />
      <QuestionPanel
        providerIds={[...new Set([...share.body.authProviderIds, ...authProviderIds])]}
        share={share.body}
        explanations={explanations}
        draft={draft}
      />
    </>
  );
}

function isSameChoice(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((id, at) => id === other[at]);
}

/** Whether one of these log-ins may prove who a person is. One that is not known may. */
function useProvesPeople(ids: readonly string[]): boolean {
  const known = useProviderEntries().data?.body.content ?? [];
  const typeOf = (id: string) => known.find((provider) => provider.id === id)?.type;
  return ids.some((id) => !hasKeys(typeOf(id) ?? ''));
}
