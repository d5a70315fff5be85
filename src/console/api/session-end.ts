/**
 * The end of the session, which all tabs of a browser share: what one of them learns is known to all at once. A log-in in any of
 * them ends that state.
 */
import { useSyncExternalStore } from 'react';

/** `began`: someone has just logged in. `valid`: the program started, and the control plane accepted the session. */
type Message = 'ended' | 'began' | 'valid';

const channel = new BroadcastChannel('frontdoor-session');
const listeners = new Set<(message: Message) => void>();
const session = { isEnded: false };

function note(message: Message): void {
  if (message === 'valid' && !session.isEnded) return;
  session.isEnded = message === 'ended';
  for (const listener of listeners) listener(message);
}

channel.onmessage = ({ data }: MessageEvent<Message>) => note(data);

/** The control plane refused the session. */
export function noteSessionEnd(): void {
  if (!session.isEnded) announceSessionEnd();
  note('ended');
}

/** For the other tabs: this one leaves the program. */
export function announceSessionEnd(): void {
  channel.postMessage('ended' satisfies Message);
}

/** The control plane accepted the session: at the start of the program, or after a log-in. */
export function noteSession(message: 'began' | 'valid'): void {
  channel.postMessage(message);
  note(message);
}

/** Calls the listener with each change, until the answer is called. */
export function onSession(listener: (message: Message) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useIsSessionEnded(): boolean {
  return useSyncExternalStore(onSession, () => session.isEnded);
}
