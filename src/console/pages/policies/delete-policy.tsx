/** Deletes a shared policy that no share uses, after its name was typed. */
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AnswerOf } from '#contract';
import { useSession } from '../../api/session.tsx';
import { useFrontdoorId } from '../../frame/frontdoor.tsx';
import { DeleteButton } from '../../parts/delete-button.tsx';
import { Panel } from '../../parts/page-title.tsx';
import { partsText } from '../../parts/parts-text.ts';
import { useFormat, useText } from '../../text/language.tsx';
import { policiesText } from './policies-text.ts';
import { usePolicyUses } from './policy-uses.tsx';

const NAMED = 5;

export function DeletePolicy({
  policy: { id, name },
  etag,
}: {
  readonly policy: Pick<AnswerOf<'getPolicy'>, 'id' | 'name'>;
  readonly etag: string | undefined;
}): ReactNode {
  const [text, parts] = [useText(policiesText), useText(partsText)];
  const frontdoorId = useFrontdoorId();
  const navigate = useNavigate();
  const mayDelete = useSession().may('deletePolicy');
  const users = useUsers(id);
  return (
    <Panel title={text.deletePolicy}>
      <p>
        {!mayDelete
          ? parts.roleTooLow
          : users === undefined || users === ''
            ? text.deleteText
            : text.deleteUsed(users)}
      </p>
      <DeleteButton
        operation="deletePolicy"
        kind="policy"
        input={{ parameters: { frontdoorId, policyId: id }, ifMatch: etag }}
        label={text.deletePolicy}
        title={text.deletePolicy}
        action={parts.delete}
        typed={name}
        variant="outline"
        isDisabled={users !== '' || !mayDelete}
        onDeleted={() => void navigate({ to: '/frontdoors/$frontdoorId/policies', params: { frontdoorId } })}
      >
        <p>{text.deleteText}</p>
      </DeleteButton>
    </Panel>
  );
}

/** The first shares that use the policy, in words; '' if there are none, undefined while they are not known. */
function useUsers(policyId: string): string | undefined {
  const [text, format] = [useText(policiesText), useFormat()];
  const uses = usePolicyUses(policyId).data?.body;
  if (uses === undefined) return undefined;
  const named = uses.shares.slice(0, NAMED).map(({ token }) => token);
  const others = uses.shareCount - named.length;
  return [...named, ...(others === 0 ? [] : [text.more(format.number(others))])].join(', ');
}
