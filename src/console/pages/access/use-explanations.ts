/** The last question about access, with the answers under the policy of the share and under one that is not saved. */
import { useState } from 'react';
import type { AccessExplanationAnswer, AccessQuestion, SharePolicyBody } from '#contract';
import { useChange } from '../../api/queries.ts';

export interface Explanations {
  readonly now: AccessExplanationAnswer | undefined;
  /** Undefined if nothing was changed when the question was asked. */
  readonly draft: AccessExplanationAnswer | undefined;
  readonly error: Error | null;
  readonly isPending: boolean;
  ask(question: AccessQuestion, policy: SharePolicyBody | undefined): void;
  /** Asks the last question again, if there was one. */
  askAgain(policy: SharePolicyBody | undefined): void;
}

export function useExplanations(parameters: {
  readonly frontdoorId: string;
  readonly token: string;
}): Explanations {
  const [asked, setAsked] = useState<AccessQuestion>();
  const now = useChange('explainShareAccess');
  const draft = useChange('explainShareAccess');
  const ask = (question: AccessQuestion, policy: SharePolicyBody | undefined) => {
    setAsked(question);
    now.mutate({ parameters, body: question });
    if (policy === undefined) draft.reset();
    else draft.mutate({ parameters, body: { ...question, policy } });
  };
  return {
    now: now.data?.body,
    draft: draft.data?.body,
    error: now.error ?? draft.error,
    isPending: now.isPending || draft.isPending,
    ask,
    askAgain: (policy) => {
      if (asked !== undefined) ask(asked, policy);
    },
  };
}
