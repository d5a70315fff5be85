/** A dialog with a form that a button of the page opens, and links from elsewhere: their address ends with `?new=true`. */
import { useState } from 'react';
import { useSearchState } from './search-state.tsx';

/** The field of the address, which the route of such a page keeps. */
export const NEW_FIELD = 'new';

export interface FormInAddress {
  readonly isOpen: boolean;
  open(): void;
  close(): void;
}

export function useFormInAddress(): FormInAddress {
  const control = useSearchState();
  const [isOpen, setOpen] = useState(false);
  const isAsked = control.textOf(NEW_FIELD) !== '';
  return {
    isOpen: isOpen || isAsked,
    open: () => setOpen(true),
    close: () => {
      setOpen(false);
      if (isAsked) control.change({ [NEW_FIELD]: undefined }, { replace: true });
    },
  };
}
