/**
 * Access to a public share. What is typed into the policy is known here, because questions are asked about it, too, before it is
 * saved.
 */
import { useState, type ReactNode } from 'react';
import type { ShareAnswer, SharePolicyAnswer } from '#contract';
import { isApiError } from '../../api/api-error.ts';
import { useChange } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { useEdit, type ReadState } from '../../parts/use-edit.ts';
import { changedFields, policyDraftOf, policyOf } from './policy-draft.ts';
import { PolicyForm } from './policy-form.tsx';
import { QuestionPanel } from './question-panel.tsx';
import { ReviewDialog } from './review-dialog.tsx';
import { ShareProviders } from './share-providers.tsx';
import { useExplanations } from './use-explanations.ts';

export function PublicAccess(props: {
  readonly share: ReadState<ShareAnswer>;
  readonly reloadShare: () => Promise<ReadState<ShareAnswer> | undefined>;
  readonly policy: ReadState<SharePolicyAnswer>;
  readonly reloadPolicy: () => Promise<ReadState<SharePolicyAnswer> | undefined>;
}): ReactNode {
  const { share, policy } = props;
  const parameters = { frontdoorId: useFrontdoorId(), token: share.body.token };
  const [isReviewing, setReviewing] = useState(false);
  const edit = useEdit({ now: policy, reload: props.reloadPolicy, draftOf: policyDraftOf });
  const { body: read, etag: ifMatch } = edit.base;
  const wanted = policyOf(edit.draft, read);
  const changed = changedFields(read, wanted);
  const explanations = useExplanations(parameters);
  const compare = useChange('compareSharePolicy', { onDone: () => setReviewing(true) });
  const save = useChange('replaceSharePolicy', {
    refreshes: ['share'],
    onDone: (answer) => {
      setReviewing(false);
      edit.saved(answer);
      explanations.askAgain(undefined);
    },
  });
  const reset = () => {
    compare.reset();
    save.reset();
  };
  const review = () => {
    save.reset();
    compare.mutate({ parameters, body: wanted });
    explanations.askAgain(wanted);
  };
  const send = () =>
    save.mutate(
      { parameters, body: wanted, ifMatch },
      {
        // The form has the ways on.
        onError: (error) => {
          if (isApiError(error, 412)) setReviewing(false);
        },
      },
    );
  return (
    <>
      <ShareProviders now={share} reload={props.reloadShare} hasUsers={policy.body.basicAuth.length > 0} />
      <PolicyForm
        edit={edit}
        change={{
          error: compare.error ?? (isReviewing ? null : save.error),
          isPending: compare.isPending || save.isPending,
          isSuccess: save.isSuccess,
          reset,
        }}
        changedCount={changed.length}
        onSubmit={review}
        onDiscard={() => {
          reset();
          edit.discard();
        }}
      />
      <QuestionPanel
        share={share.body}
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
        onSave={send}
        onClose={() => setReviewing(false)}
      />
    </>
  );
}
