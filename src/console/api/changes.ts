/**
 * What changes while the program runs: the answers on the screen that a change concerns are asked for again. While a dialog is
 * open nothing moves under it.
 */
import { useEffect, useSyncExternalStore } from 'react';
import type { ResourceEvent, StreamState, Topic } from './change-source.ts';
import { laterFile } from './later-files.ts';
import { queryClient } from './queries.ts';
import { Refreshing } from './refreshing.ts';
import { onSession } from './session-end.ts';

const held = { by: 0, changes: [] as ResourceEvent[], isUnknown: false };
const shown = { state: { isOpen: false, lostAtMs: undefined } as StreamState };
const listeners = new Set<() => void>();
const refreshing = new Refreshing(queryClient);

/** The first page needs no stream. */
const sharedStream = laterFile(async () => {
  const { SharedStream } = await import('./shared-stream.ts');
  return new SharedStream({
    changed: (changes) => {
      if (changes === 'unknown') held.isUnknown = true;
      else held.changes.push(...changes);
      deliver();
    },
    stateChanged: setState,
  });
});

function setState(state: StreamState): void {
  if (state.isOpen === shown.state.isOpen && state.lostAtMs === shown.state.lostAtMs) return;
  shown.state = state;
  for (const listener of listeners) listener();
}

// Requests that were refused, and those that nobody sent meanwhile.
onSession((message) => {
  if (message !== 'ended') refreshing.all();
});

export function useStreamState(): StreamState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown.state,
  );
}

/** Holds changes back while a dialog is open. */
export function useHeldChanges(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    held.by += 1;
    return () => {
      held.by -= 1;
      deliver();
    };
  }, [isOpen]);
}

const RETRY_MS = 5_000;
/** More changes than this are as good as unknown ones. */
const MAX_HELD = 1_000;

function deliver(): void {
  if (held.changes.length > MAX_HELD) held.isUnknown = true;
  if (held.isUnknown) held.changes = [];
  if (held.by > 0) return;
  if (held.isUnknown) refreshing.all();
  refreshing.changed(held.changes);
  [held.changes, held.isUnknown] = [[], false];
}

/** Follows the changes of a topic, and of the session, for as long as the component is there. */
export function useChanges({ frontdoorId, isInstallation = false }: Topic): void {
  useEffect(() => {
    const end = new AbortController();
    void follow({ frontdoorId, isInstallation }, end.signal);
    return () => end.abort();
  }, [frontdoorId, isInstallation]);
}

async function follow(topic: Topic, end: AbortSignal): Promise<void> {
  const stream = await sharedStream.load().catch(() => undefined);
  if (end.aborted) return;
  if (stream === undefined) {
    setState({ isOpen: false, lostAtMs: shown.state.lostAtMs ?? Date.now() });
    setTimeout(() => end.aborted || void follow(topic, end), RETRY_MS);
    return;
  }
  end.addEventListener('abort', stream.follow(topic));
}
