/** A change of access that is shown before it is saved: what it does to recorded requests and to the last question. */
import { useState } from 'react';
import type { PolicyComparisonAnswer, PolicyDraftBody } from '#contract/schemas';
import { isApiError } from '../../api/api-error.ts';
import { useChange } from '../../api/queries.ts';
import type { SentChange } from '../../parts/edit-form.tsx';
import type { AccessDraft, Explanations } from './use-explanations.ts';

export interface ReviewState {
  readonly isOpen: boolean;
  open(): void;
  close(): void;
  /** For the options of the saving mutation: a form has the ways on when someone else changed the same. */
  onError(error: Error): void;
  /** The change as the form behind the review shows it. `compare` opens the review. */
  changeOf(compare: Omit<SentChange, 'isSuccess'>, save: SentChange): SentChange;
}

export function useReviewState(): ReviewState {
  const [isOpen, setOpen] = useState(false);
  return {
    isOpen,
    open: () => setOpen(true),
    close: () => setOpen(false),
    onError: (error) => {
      if (isApiError(error, 412)) setOpen(false);
    },
    changeOf: (compare, save) => ({
      error: compare.error ?? (isOpen ? null : save.error),
      isPending: compare.isPending || save.isPending,
      isSuccess: save.isSuccess,
      reset: () => {
        compare.reset();
        save.reset();
      },
    }),
  };
}

export interface Review extends Pick<ReviewState, 'isOpen' | 'close' | 'onError'> {
  readonly comparison: PolicyComparisonAnswer | undefined;
  /** Opens the review when the comparison has come. */
  begin(compared: PolicyDraftBody, asked: AccessDraft): void;
  changeOf(save: SentChange): SentChange;
}

export function useReview(
  parameters: { readonly frontdoorId: string; readonly token: string },
  explanations: Explanations,
): Review {
  const state = useReviewState();
  const compare = useChange('compareSharePolicy', { onDone: state.open });
  return {
    ...state,
    comparison: compare.data?.body,
    begin: (body, asked) => {
      compare.mutate({ parameters, body });
      explanations.askAgain(asked);
    },
    changeOf: (save) => state.changeOf(compare, save),
  };
}
