/**
 * Access to a public share. What is typed into the policy is known here, because questions are asked about it, too, before it is
 * saved. While somebody types, the policy stays the one that was read, whose tag refuses to overwrite what others changed.
 */
import { useState, type ReactNode } from 'react';
import type { ShareAnswer, SharePolicyAnswer } from '#contract';
import { useChange } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { isOutdated } from '../../parts/read-version.ts';
import { changedFields, policyDraftOf, policyOf, type PolicyDraft } from './policy-draft.ts';
import { PolicyForm } from './policy-form.tsx';
import { QuestionPanel } from './question-panel.tsx';
import { ReviewDialog } from './review-dialog.tsx';
import { ShareProviders } from './share-providers.tsx';
import { useExplanations } from './use-explanations.ts';

interface Held {
  readonly draft: PolicyDraft;
  readonly read: SharePolicyAnswer;
  readonly etag: string | undefined;
}

export function PublicAccess({
  share,
  shareTag,
  policy,
  policyTag,
}: {
  readonly share: ShareAnswer;
  readonly shareTag: string | undefined;
  readonly policy: SharePolicyAnswer;
  readonly policyTag: string | undefined;
}): ReactNode {
  const parameters = { frontdoorId: useFrontdoorId(), token: share.token };
  const [held, setHeld] = useState<Held>();
  const [isReviewing, setReviewing] = useState(false);
  const { draft, read, etag } = held ?? { draft: policyDraftOf(policy), read: policy, etag: policyTag };
  const wanted = policyOf(draft, read);
  const changed = changedFields(read, wanted);
  const explanations = useExplanations(parameters);
  const compare = useChange('compareSharePolicy', { onDone: () => setReviewing(true) });
  const save = useChange('replaceSharePolicy', {
    refreshes: ['share'],
    onDone: () => {
      setReviewing(false);
      setHeld(undefined);
      explanations.askAgain(undefined);
    },
  });
  const discard = () => {
    compare.reset();
    save.reset();
    setReviewing(false);
    setHeld(undefined);
  };
  const review = () => {
    save.reset();
    compare.mutate({ parameters, body: wanted });
    explanations.askAgain(wanted);
  };
  return (
    <>
      <ShareProviders share={share} etag={shareTag} hasUsers={policy.basicAuth.length > 0} />
      <PolicyForm
        draft={draft}
        changedCount={changed.length}
        isOfOthers={isOutdated(held, policyTag) && !save.isPending}
        isSaved={save.isSuccess && held === undefined}
        error={compare.error ?? (isReviewing ? null : save.error)}
        isPending={compare.isPending}
        onChange={(next) => setHeld({ draft: next, read, etag })}
        onSubmit={review}
        onDiscard={discard}
      />
      <QuestionPanel
        share={share}
        explanations={explanations}
        draft={changed.length === 0 ? undefined : wanted}
      />
      <ReviewDialog
        isOpen={isReviewing}
        changed={changed}
        comparison={compare.data?.body}
        explanations={explanations}
        error={save.error}
        isPending={save.isPending}
        onSave={() => save.mutate({ parameters, body: wanted, ifMatch: etag })}
        onClose={() => setReviewing(false)}
        onStale={discard}
      />
    </>
  );
}
