/** The name and the rules of a shared policy: one review over the shares that use it, one save. */
import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { isApiError } from '../../api/api-error.ts';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useEdit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import { changedFields, policyDraftOf, policyOf, rulesOfPolicy } from '../access/policy-draft.ts';
import { fieldsOf, RuleCards, useOpenRules } from '../access/rule-cards.tsx';
import { policiesText } from './policies-text.ts';
import { PolicyReview } from './policy-review.tsx';

type Policy = AnswerOf<'getPolicy'>;

export function PolicyForm({ now, reload }: Editable<Policy>): ReactNode {
  const [text, parts] = [useText(policiesText), useText(partsText)];
  const mayChange = useSession().may('replacePolicy');
  const cards = useOpenRules();
  const edit = useEdit({
    now,
    reload,
    draftOf: (policy) => ({ ...policyDraftOf(rulesOfPolicy(policy)), name: policy.name }),
  });
  const { draft } = edit;
  const { name } = draft;
  const { body: base, etag } = edit.base;
  const read = rulesOfPolicy(base);
  const wanted = policyOf(draft, read);
  const changedRules = changedFields(read, wanted);
  const changed = [...(name === base.name ? [] : ['name']), ...changedRules];
  const parameters = { frontdoorId: useFrontdoorId(), policyId: base.id };
  const [isReviewing, setReviewing] = useState(false);
  const compare = useChange('comparePolicy', { onDone: () => setReviewing(true) });
  const save = useChange('replacePolicy', {
    refreshes: ['policy'],
    onDone: (answer) => {
      setReviewing(false);
      cards.closeAll();
      edit.saved(answer);
    },
  });
  const reset = () => {
    compare.reset();
    save.reset();
  };
  return (
    <Panel title={text.rulesOf}>
      {mayChange ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      <EditForm
        edit={edit}
        change={{
          error: compare.error ?? (isReviewing ? null : save.error),
          isPending: compare.isPending || save.isPending,
          isSuccess: save.isSuccess,
          reset,
        }}
        fields={['name', ...fieldsOf(cards, draft)]}
        isDisabled={changed.length === 0 || !mayChange}
        submit={text.review}
        saved={text.saved}
        onSubmit={() => {
          save.reset();
          compare.mutate({ parameters, body: wanted });
        }}
      >
        <fieldset className="fd-bare" disabled={!mayChange}>
          <NameField
            label={text.name}
            description={text.nameHelp}
            value={name}
            onChange={(typed) => edit.type({ name: typed })}
          />
          <RuleCards
            draft={draft}
            set={edit.type}
            isShared
            wanted={wanted}
            rules={cards}
            mayChange={mayChange}
          />
        </fieldset>
        {changed.length === 0 ? null : (
          <Button
            variant="subtle"
            onClick={() => {
              reset();
              cards.closeAll();
              edit.discard();
            }}
          >
            {text.discard}
          </Button>
        )}
      </EditForm>
      {isReviewing ? (
        <PolicyReview
          changed={changed}
          comparison={compare.data?.body}
          save={save}
          onClose={() => setReviewing(false)}
          onSave={() =>
            save.mutate(
              { parameters, body: { name, ...wanted }, ifMatch: etag },
              { onError: (error) => isApiError(error, 412) && setReviewing(false) },
            )
          }
        />
      ) : null}
    </Panel>
  );
}
