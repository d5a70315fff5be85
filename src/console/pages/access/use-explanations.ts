/** The last question about access, with the answers for the share as it is and with the changes that are not saved. */
import { useState } from 'react';
import type { AccessExplanationAnswer, AccessQuestion } from '#contract/schemas';
import { useChange } from '../../api/queries.ts';

/** Changes that are not saved; empty without any. */
export type AccessDraft = Pick<AccessQuestion, 'policy' | 'authProviderIds'>;

export interface Explanations {
  readonly now: AccessExplanationAnswer | undefined;
  /** Undefined if nothing was changed when the question was asked. */
  readonly draft: AccessExplanationAnswer | undefined;
  readonly error: Error | null;
  readonly isPending: boolean;
  ask(question: AccessQuestion, changes: AccessDraft): void;
  /** Asks the last question again, if there was one. */
  askAgain(changes: AccessDraft): void;
}

export function useExplanations(parameters: {
  readonly frontdoorId: string;
  readonly token: string;
}): Explanations {
  const [asked, setAsked] = useState<AccessQuestion>();
  const now = useChange('explainShareAccess');
  const draft = useChange('explainShareAccess');
  const ask = (question: AccessQuestion, changes: AccessDraft) => {
    setAsked(question);
    now.mutate({ parameters, body: question });
    if (Object.keys(changes).length === 0) draft.reset();
    else draft.mutate({ parameters, body: { ...question, ...changes } });
  };
  return {
    now: now.data?.body,
    draft: draft.data?.body,
    error: now.error ?? draft.error,
    isPending: now.isPending || draft.isPending,
    ask,
    askAgain: (changes) => {
      if (asked !== undefined) ask(asked, changes);
    },
  };
}
