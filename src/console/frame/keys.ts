/**
 * Keys that work on every page: Ctrl-K, `?`, and `g` followed by the letter of a page. None works in a dialog, and those without
 * Ctrl do not while someone types, and can be switched off: programs that turn speech into keys press them by mistake.
 */
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useSession } from '../api/session.tsx';
import { useCurrentFrontdoor } from './frontdoor.tsx';
import { navigationOf } from './navigation.ts';

const SECOND_KEY_MS = 1_500;
const LETTER_KEYS = 'frontdoor-letter-keys';

/** Whether the keys without Ctrl work in this browser. */
export function areLetterKeysOn(): boolean {
  return localStorage.getItem(LETTER_KEYS) !== 'off';
}

export function setLetterKeys(areOn: boolean): void {
  localStorage.setItem(LETTER_KEYS, areOn ? 'on' : 'off');
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}

/** What a text is after a key, for a box that is not there yet. */
function textAfter(text: string, key: string): string {
  // Enter is the last key: the search goes to what it finds.
  if (text.endsWith('\n')) return text;
  if (key === 'Enter') return `${text}\n`;
  if (key === 'Backspace') return text.slice(0, -1);
  return [...key].length === 1 ? text + key : text;
}

/** Keys of the person who typed Ctrl-K belong to the box of the search, also before it is there and has the focus. */
export function useTypedAhead(isOpen: boolean, type: (change: (text: string) => string) => void): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey } = event;
      if (document.activeElement?.getAttribute('role') === 'combobox') return stop();
      const isOfDialog = document.activeElement?.matches('[role=dialog] :is(button, a, input)') === true;
      const isLeaving = ['Escape', 'Tab'].includes(key);
      if (isOfDialog || isLeaving || ctrlKey || metaKey || altKey) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      type((text) => textAfter(text, key));
    };
    const stop = () => window.removeEventListener('keydown', onKey, { capture: true });
    window.addEventListener('keydown', onKey, { capture: true });
    return stop;
  }, [isOpen, type]);
}

export function useKeys(act: { readonly openSearch: () => void; readonly openKeys: () => void }): void {
  const session = useSession();
  const frontdoorId = useCurrentFrontdoor();
  const navigate = useNavigate();
  useEffect(() => {
    let goUntilMs = 0;
    const onKey = (event: KeyboardEvent) => {
      const { key, target, timeStamp } = event;
      const isInDialog = document.querySelector('[role=dialog]') !== null;
      if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'k') {
        event.preventDefault();
        if (!isInDialog) act.openSearch();
        return;
      }
      if (isTyping(target) || isInDialog || event.ctrlKey || event.metaKey || event.altKey) return;
      if (!areLetterKeysOn()) return;
      if (key === '?') return act.openKeys();
      if (key === 'g') {
        goUntilMs = timeStamp + SECOND_KEY_MS;
        return;
      }
      if (timeStamp > goUntilMs) return;
      goUntilMs = 0;
      const entries = navigationOf(session, frontdoorId).flatMap((group) => group.entries);
      const found = entries.find((entry) => entry.key === key);
      if (found !== undefined) void navigate({ to: found.to });
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [act, frontdoorId, navigate, session]);
}
