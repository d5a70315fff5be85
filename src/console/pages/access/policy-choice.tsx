/** Whether a share has rules of its own or those of a shared policy. */
import { NativeSelect } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { useText } from '../../text/language.tsx';
import { RuleSentences } from './access-sentences.tsx';
import { accessText } from './access-text.ts';
import { rulesOfPolicy } from './policy-draft.ts';

const MOST_SHOWN = 100;

/** The shared policies of the frontdoor, by name. */
export function usePolicies() {
  const parameters = { frontdoorId: useFrontdoorId() };
  return useAnswer('listPolicies', { parameters, query: { size: MOST_SHOWN, sort: 'name,asc' } });
}

/** The policy with this id, once it is known. */
export function usePolicy(policyId: string | null): AnswerOf<'getPolicy'> | undefined {
  const parameters = { frontdoorId: useFrontdoorId(), policyId: policyId ?? '' };
  const found = useAnswer('getPolicy', { parameters }, { enabled: policyId !== null }).data?.body;
  // The answer of another one stays until the new one has come.
  return found?.id === policyId ? found : undefined;
}

export function PolicyChoice(props: {
  readonly value: string | null;
  readonly onChange: (policyId: string | null) => void;
}): ReactNode {
  const text = useText(accessText);
  const { value, onChange } = props;
  const error = useFieldError('policyId');
  const frontdoorId = useFrontdoorId();
  const used = usePolicy(value);
  const policies = usePolicies().data?.body.content ?? [];
  const isListed = value === null || policies.some(({ id }) => id === value);
  return (
    <>
      {policies.length === 0 && value === null ? null : (
        <NativeSelect
          label={text.rules}
          error={error}
          value={value ?? ''}
          onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? null : currentTarget.value)}
          data={[
            { value: '', label: text.ownRules },
            ...policies.map(({ id, name }) => ({ value: id, label: name })),
            ...(isListed ? [] : [{ value, label: used?.name ?? value }]),
          ]}
          mb="md"
          maw="24rem"
        />
      )}
      {value === null ? (
        <p className="fd-soft">
          {text.shareRules}{' '}
          <Link to="/frontdoors/$frontdoorId/policies" params={{ frontdoorId }}>
            {text.policies}
          </Link>
        </p>
      ) : (
        <SharedRules policyId={value} policy={used} />
      )}
    </>
  );
}

/** What the policy admits, in sentences, and the way to its page. */
function SharedRules(props: {
  readonly policyId: string;
  readonly policy: AnswerOf<'getPolicy'> | undefined;
}): ReactNode {
  const text = useText(accessText);
  const { policyId, policy } = props;
  const frontdoorId = useFrontdoorId();
  const name = policy?.name ?? policyId;
  return (
    <section className="fd-panel fd-rule" aria-label={name}>
      <h3 className="fd-h3">
        <Link to="/frontdoors/$frontdoorId/policies/$policyId" params={{ frontdoorId, policyId }}>
          {name}
        </Link>
      </h3>
      {policy === undefined ? null : <RuleSentences policy={rulesOfPolicy(policy)} />}
      <p className="fd-soft">{text.sharedRules}</p>
    </section>
  );
}
