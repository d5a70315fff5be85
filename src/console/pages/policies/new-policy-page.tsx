/** A new shared policy: its name and its rules, as cards. */
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { NO_RULES } from '#contract/access-sentences';
import { useChange, useIdempotencyKey } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { Form } from '../../parts/form.tsx';
import { NameField } from '../../parts/name-field.tsx';
import { PageTitle, Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useText } from '../../text/language.tsx';
import { EMPTY_DRAFT, policyOf, type PolicyDraft } from '../access/policy-draft.ts';
import { fieldsOf, RuleCards, useOpenRules } from '../access/rule-cards.tsx';
import { policiesText } from './policies-text.ts';

export function NewPolicyPage(): ReactNode {
  const [text, parts] = [useText(policiesText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const { may } = useSession();
  return (
    <>
      <PageTitle
        title={text.newPolicy}
        above={
          <Link to="/frontdoors/$frontdoorId/policies" params={{ frontdoorId }}>
            {text.policies}
          </Link>
        }
      />
      {may('createPolicy') ? <NewPolicyForm /> : <p>{parts.roleTooLow}</p>}
    </>
  );
}

function NewPolicyForm(): ReactNode {
  const text = useText(policiesText);
  const frontdoorId = useFrontdoorId();
  const navigate = useNavigate();
  const cards = useOpenRules();
  const idempotencyKey = useIdempotencyKey();
  const [name, setName] = useState('');
  const [draft, setDraft] = useState<PolicyDraft>(EMPTY_DRAFT);
  const wanted = policyOf(draft, NO_RULES);
  const { mutate, error, isPending } = useChange('createPolicy', {
    refreshes: ['policy'],
    onDone: ({ body: { id: policyId } }) =>
      void navigate({ to: '/frontdoors/$frontdoorId/policies/$policyId', params: { frontdoorId, policyId } }),
  });
  return (
    <Panel>
      <p className="fd-soft">{text.providersText}</p>
      <Form
        fields={['name', ...fieldsOf(cards, draft)]}
        error={error}
        isPending={isPending}
        submit={text.create}
        onSubmit={() => mutate({ parameters: { frontdoorId }, body: { name, ...wanted }, idempotencyKey })}
      >
        <NameField label={text.name} description={text.nameHelp} value={name} onChange={setName} />
        <RuleCards
          draft={draft}
          set={(changes) => setDraft((before) => ({ ...before, ...changes }))}
          isShared
          wanted={wanted}
          rules={cards}
          mayChange
        />
      </Form>
    </Panel>
  );
}
