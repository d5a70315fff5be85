/**
 * What changes while the program runs: the answers on the screen that a change concerns are asked for again. While a dialog is
 * open nothing moves under it.
 */
import { useEffect, useSyncExternalStore } from 'react';
import type { Change, StreamState, Topic } from './change-source.ts';
import { queryClient } from './queries.ts';
import { Refreshing } from './refreshing.ts';
import { onSession } from './session-end.ts';
import { SharedStream } from './shared-stream.ts';

const held = { by: 0, changes: [] as Change[], isUnknown: false };
const shown = { state: { isOpen: false, lostAtMs: undefined } as StreamState };
const listeners = new Set<() => void>();
const refreshing = new Refreshing(queryClient);

const stream = new SharedStream({
  changed: (changes) => {
    if (changes === 'unknown') held.isUnknown = true;
    else held.changes.push(...changes);
    deliver();
  },
  stateChanged: (state) => {
    if (state.isOpen === shown.state.isOpen && state.lostAtMs === shown.state.lostAtMs) return;
    shown.state = state;
    for (const listener of listeners) listener();
  },
});

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
  useEffect(() => stream.follow({ frontdoorId, isInstallation }), [frontdoorId, isInstallation]);
}
