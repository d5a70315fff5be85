/** The name and the rules of a shared policy: one review over the shares that use it, one save. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import type { SharePolicyBody } from '#contract/schemas';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { EditForm } from '../../parts/edit-form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useEdit, type Edit, type Editable } from '../../parts/use-edit.ts';
import { useText } from '../../text/language.tsx';
import {
  changedFields,
  policyDraftOf,
  policyOf,
  rulesOfPolicy,
  type PolicyDraft,
} from '../access/policy-draft.ts';
import { fieldsOf, RuleCards, useOpenRules } from '../access/rule-cards.tsx';
import { useReviewState } from '../access/use-review.ts';
import { policiesText } from './policies-text.ts';
import { PolicyReview } from './policy-review.tsx';

type Policy = AnswerOf<'getPolicy'>;
type Draft = PolicyDraft & Pick<Policy, 'name'>;

export function PolicyForm({ now, reload }: Editable<Policy>): ReactNode {
  const [text, parts] = [useText(policiesText), useText(partsText)];
  const mayChange = useSession().may('replacePolicy');
  const cards = useOpenRules();
  const edit = useEdit({
    now,
    reload,
    draftOf: (policy): Draft => ({ ...policyDraftOf(rulesOfPolicy(policy)), name: policy.name }),
  });
  const { draft, base } = edit;
  const read = rulesOfPolicy(base.body);
  const wanted = policyOf(draft, read);
  const isRenamed = draft.name !== base.body.name;
  const changed = [...(isRenamed ? ['name'] : []), ...changedFields(read, wanted)];
  const reviewed = useReviewedChange(edit, wanted, cards.closeAll);
  return (
    <Panel title={text.rulesOf}>
      {mayChange ? null : <p className="fd-soft">{parts.roleTooLow}</p>}
      <EditForm
        edit={edit}
        change={reviewed.change}
        fields={['name', ...fieldsOf(cards, draft)]}
        isDisabled={changed.length === 0 || !mayChange}
        submit={text.review}
        saved={text.saved}
        onSubmit={reviewed.begin}
      >
        <fieldset className="fd-bare" disabled={!mayChange}>
          <NameField
            label={text.name}
            description={text.nameHelp}
            value={draft.name}
            onChange={(name) => edit.type({ name })}
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
              reviewed.change.reset();
              cards.closeAll();
              edit.discard();
            }}
          >
            {text.discard}
          </Button>
        )}
      </EditForm>
      {reviewed.isOpen ? (
        <PolicyReview
          changed={changed}
          comparison={reviewed.comparison}
          save={reviewed.save}
          onClose={reviewed.close}
          onSave={reviewed.confirm}
        />
      ) : null}
    </Panel>
  );
}

/** A change that is compared with recorded requests first, and saved after the review. */
function useReviewedChange(edit: Edit<Policy, Draft>, wanted: SharePolicyBody, onSaved: () => void) {
  const { draft, base } = edit;
  const parameters = { frontdoorId: useFrontdoorId(), policyId: base.body.id };
  const state = useReviewState();
  const compare = useChange('comparePolicy', { onDone: state.open });
  const save = useChange('replacePolicy', {
    refreshes: ['policy'],
    onDone: (answer) => {
      state.close();
      onSaved();
      edit.saved(answer);
    },
  });
  return {
    isOpen: state.isOpen,
    close: state.close,
    change: state.changeOf(compare, save),
    save,
    comparison: compare.data?.body,
    begin: () => {
      save.reset();
      compare.mutate({ parameters, body: wanted });
    },
    confirm: () =>
      save.mutate(
        { parameters, body: { name: draft.name, ...wanted }, ifMatch: base.etag },
        { onError: state.onError },
      ),
  };
}
