/** Input of forms that is not saved. It is asked for before the page is left, by a link, by the browser or by a log-out. */
import { useEffect, useRef } from 'react';

export interface UnsavedInput {
  /** Someone has typed or chosen something. */
  note(): void;
  /** It was given up. */
  drop(): void;
}

interface OpenForm {
  isPending: boolean;
}

const forms = new Set<OpenForm>();

export function hasUnsavedInput(): boolean {
  return forms.size > 0;
}

/** Called when a change has succeeded: the input of the forms that waited for it is saved. */
export function noteSaved(): void {
  for (const form of forms) if (form.isPending) forms.delete(form);
}

/** The person leaves it, or what it was about no longer exists. */
export function dropUnsavedInput(): void {
  forms.clear();
}

/** The input of one form, until the form is gone. `hasInput`: undefined where the form notes it itself. */
export function useUnsavedInput(isPending: boolean, hasInput: boolean | undefined): UnsavedInput {
  const form = useRef<OpenForm>({ isPending });
  useEffect(() => {
    if (hasInput === true) forms.add(form.current);
    if (hasInput === false) forms.delete(form.current);
  }, [hasInput]);
  useEffect(() => {
    form.current.isPending = isPending;
  }, [isPending]);
  useEffect(() => {
    const own = form.current;
    return () => void forms.delete(own);
  }, []);
  return { note: () => void forms.add(form.current), drop: () => void forms.delete(form.current) };
}
