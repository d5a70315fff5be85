/** The policy of a share: its form, and what a change does before it is saved. */
import type { ReactNode } from 'react';
import type { SharePolicyAnswer, SharePolicyBody } from '#contract/schemas';
import { useChange } from '../../api/queries.ts';
import type { Edit } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import type { PolicyDraft } from './policy-draft.ts';
import { PolicyForm } from './policy-form.tsx';
import { questionText } from './question-text.ts';
import { ReviewDialog } from './review-dialog.tsx';
import type { Explanations } from './use-explanations.ts';
import { useReview } from './use-review.ts';

export function SharePolicy(props: {
  readonly edit: Edit<SharePolicyAnswer, PolicyDraft>;
  readonly parameters: { readonly frontdoorId: string; readonly token: string };
  readonly explanations: Explanations;
  readonly wanted: SharePolicyBody;
  /** Names of the fields that differ from what is stored. */
  readonly changed: readonly string[];
  readonly isNobodyProven: boolean;
}): ReactNode {
  const text = useText(questionText);
  const { edit, parameters, explanations, wanted, changed } = props;
  const review = useReview(parameters, explanations);
  const save = useChange('replaceSharePolicy', {
    refreshes: ['share'],
    onDone: (answer) => {
      review.close();
      edit.saved(answer);
      explanations.askAgain({});
    },
  });
  const change = review.changeOf(save);
  return (
    <>
      <PolicyForm
        edit={edit}
        change={change}
        changedCount={changed.length}
        isNobodyProven={props.isNobodyProven}
        onSubmit={() => {
          save.reset();
          review.begin(wanted, { policy: wanted });
        }}
        onDiscard={() => {
          change.reset();
          edit.discard();
        }}
      />
      <ReviewDialog
        review={review}
        changed={changed}
        explanations={explanations}
        save={save}
        submit={text.save}
        onSave={() => save.mutate({ parameters, body: wanted, ifMatch: edit.base.etag }, review)}
      />
    </>
  );
}
