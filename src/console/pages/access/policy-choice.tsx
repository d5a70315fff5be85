/** Whether a share has rules of its own or those of a shared policy. */
import { NativeSelect } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import type { SharePolicyBody } from '#contract/schemas';
import { useAnswer } from '../../api/queries.ts';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { useFieldError } from '../../parts/form.tsx';
import { useText } from '../../text/language.tsx';
import { accessText } from './access-text.ts';

const MOST_SHOWN = 100;

/** The policy with this id, once it is known. */
export function usePolicy(policyId: string | null): AnswerOf<'getPolicy'> | undefined {
  const parameters = { frontdoorId: useFrontdoorId(), policyId: policyId ?? '' };
  const found = useAnswer('getPolicy', { parameters }, { enabled: policyId !== null }).data?.body;
  // The answer of another one stays until the new one has come.
  return found?.id === policyId ? found : undefined;
}

/** The rules of a policy as a share has them. */
export function rulesOfPolicy(policy: AnswerOf<'getPolicy'>): SharePolicyBody {
  const { id: _id, name: _name, shareCount: _count, createdAt: _at, ...rules } = policy;
  return rules;
}

export function PolicyChoice(props: {
  readonly value: string | null;
  readonly onChange: (policyId: string | null) => void;
}): ReactNode {
  const text = useText(accessText);
  const { value, onChange } = props;
  const error = useFieldError('policyId');
  const used = usePolicy(value);
  const parameters = { frontdoorId: useFrontdoorId() };
  const listed = useAnswer('listPolicies', { parameters, query: { size: MOST_SHOWN, sort: 'name,asc' } });
  const policies = listed.data?.body.content ?? [];
  if (policies.length === 0 && value === null) return null;
  const isListed = value === null || policies.some(({ id }) => id === value);
  return (
    <>
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
      {value === null ? null : <p>{text.sharedRules(used?.name ?? value)}</p>}
    </>
  );
}
