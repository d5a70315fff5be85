/** The auth providers of a share, and what other ones would do before they are saved. */
import type { ReactNode } from 'react';
import type { ShareAnswer } from '#contract/schemas';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { StateBadge } from '../../parts/state-badge.tsx';
import type { Edit } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { ProviderChoice } from '../providers/provider-choice.tsx';
import { accessText } from './access-text.ts';
import { ReviewDialog } from './review-dialog.tsx';
import type { Explanations } from './use-explanations.ts';
import { useReview } from './use-review.ts';

type ProviderDraft = Pick<ShareAnswer, 'authProviderIds'>;

export function ShareProviders({
  edit,
  explanations,
  hasUsers,
  isNobodyProven,
}: {
  readonly edit: Edit<ShareAnswer, ProviderDraft>;
  readonly explanations: Explanations;
  /** Whether the policy has users with a password. */
  readonly hasUsers: boolean;
  /** Whether the policy has rules about people that no chosen log-in proves. */
  readonly isNobodyProven: boolean;
}): ReactNode {
  const [text, parts] = [useText(accessText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  const { authProviderIds: chosen } = edit.draft;
  const { body: share, etag } = edit.base;
  const parameters = { frontdoorId, token: share.token };
  const review = useReview(parameters, explanations);
  const save = useChange('changeShare', {
    refreshes: ['share'],
    onDone: (answer) => {
      review.close();
      edit.saved(answer);
      explanations.askAgain({});
    },
  });
  const body = { authProviderIds: [...chosen] };
  return (
    <Panel title={text.providers}>
      {may('changeShare') ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      <EditForm
        edit={edit}
        change={review.changeOf(save)}
        fields={['authProviderIds']}
        isDisabled={!may('changeShare')}
        submit={text.reviewProviders}
        saved={text.saved}
        onSubmit={() => {
          save.reset();
          review.begin(body, body);
        }}
      >
        <ProviderChoice
          label={text.providers}
          description={chosen.length === 0 ? text.providersOpen : text.providersHelp}
          value={chosen}
          isDisabled={!may('changeShare')}
          onChange={(ids) => edit.type({ authProviderIds: [...ids] })}
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
      </EditForm>
      <ReviewDialog
        review={review}
        changed={isSameChoice(chosen, share.authProviderIds) ? [] : ['authProviderIds']}
        explanations={explanations}
        save={save}
        submit={text.saveProviders}
        onSave={() => save.mutate({ parameters, body, ifMatch: etag }, review)}
      />
    </Panel>
  );
}

export function isSameChoice(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((id, at) => id === other[at]);
}
