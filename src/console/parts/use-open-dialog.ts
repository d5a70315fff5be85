/** An open dialog among others: Escape closes the topmost one alone, and the focus returns to where it was. */
import { useEffect, useRef } from 'react';

/** The open dialogs, the topmost last. */
const openDialogs: object[] = [];
/** The opener of a dialog that has just closed: another one that opens in its place inherits it. */
let inherited: HTMLElement | undefined;

export function useOpenDialog(isOpen: boolean, onClose: () => void): void {
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    if (!isOpen) return undefined;
    const self = {};
    openDialogs.push(self);
    const opener = inherited ?? openerOf(document.activeElement);
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || openDialogs.at(-1) !== self) return;
      // The next dialog would be the topmost one by then.
      event.stopImmediatePropagation();
      close.current();
    };
    window.addEventListener('keydown', onKey, { capture: true });
    return () => {
      window.removeEventListener('keydown', onKey, { capture: true });
      openDialogs.splice(openDialogs.indexOf(self), 1);
      returnFocus(opener);
    };
  }, [isOpen]);
}

/** Returns the element that opened a dialog. An entry of a menu vanishes with its menu, whose button stays. */
function openerOf(element: Element | null): HTMLElement | undefined {
  const button = element?.closest('[role=menu]')?.getAttribute('aria-labelledby');
  const opener = typeof button === 'string' ? document.getElementById(button) : element;
  return opener instanceof HTMLElement ? opener : undefined;
}

/** Mantine returns the focus only from dialogs that are there before they open. */
function returnFocus(opener: HTMLElement | undefined): void {
  const atEnd = document.activeElement;
  inherited = opener;
  setTimeout(() => {
    inherited = undefined;
    const now = document.activeElement;
    // Another dialog, or the content of the next page, may have it already.
    if (now !== null && now !== document.body && now !== atEnd) return;
    const target = opener?.isConnected === true ? opener : document.getElementById('content');
    target?.focus({ preventScroll: true });
  });
}
