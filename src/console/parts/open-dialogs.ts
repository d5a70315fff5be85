/** The open dialogs: Escape closes the topmost one only, and the focus returns to where it was. */

export class OpenDialogs {
  /** The topmost last. */
  readonly #open: object[] = [];
  /** The opener of a dialog that has just closed: another one that opens in its place inherits it. */
  #inherited: HTMLElement | undefined;

  /** Opens a dialog, until the answer is called. `focused` had the focus before it was drawn. */
  open(focused: HTMLElement | undefined, close: () => void): () => void {
    const self = {};
    this.#open.push(self);
    const opener = this.#inherited ?? focused;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || this.#open.at(-1) !== self) return;
      // The next dialog would be the topmost one by then.
      event.stopImmediatePropagation();
      close();
    };
    window.addEventListener('keydown', onKey, { capture: true });
    return () => {
      window.removeEventListener('keydown', onKey, { capture: true });
      this.#open.splice(this.#open.indexOf(self), 1);
      this.#returnFocus(opener);
    };
  }

  /** Mantine returns the focus only from dialogs that are there before they open. */
  #returnFocus(opener: HTMLElement | undefined): void {
    const atEnd = document.activeElement;
    this.#inherited = opener;
    setTimeout(() => {
      this.#inherited = undefined;
      const now = document.activeElement;
      // Another dialog, or the content of the next page, may have it already.
      if (now !== null && now !== document.body && now !== atEnd) return;
      const target = opener?.isConnected === true ? opener : document.getElementById('content');
      target?.focus({ preventScroll: true });
    });
  }
}

/**
 * The element that opens a dialog: the one with the focus. An entry of a menu vanishes with its menu, before the dialog is on the
 * screen, and the button of the menu stays.
 */
export function focusedOpener(): HTMLElement | undefined {
  const focused = document.activeElement;
  const button = focused?.closest('[role=menu]')?.getAttribute('aria-labelledby');
  const opener = typeof button === 'string' ? document.getElementById(button) : focused;
  return opener instanceof HTMLElement ? opener : undefined;
}
