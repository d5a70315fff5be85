/** The changes that components follow, and hold back. */
import { useEffect, useSyncExternalStore } from 'react';
import type { StreamState, Topic } from './change-source.ts';
import { useProgram } from './program.tsx';

export function useStreamState(): StreamState {
  const { changes } = useProgram();
  return useSyncExternalStore(changes.onState, () => changes.state);
}

/** Holds changes back while a dialog is open. */
export function useHeldChanges(isOpen: boolean): void {
  const { changes } = useProgram();
  useEffect(() => (isOpen ? changes.hold() : undefined), [changes, isOpen]);
}

/** Follows the changes of a topic, and of the session, for as long as the component is there. */
export function useChanges({ frontdoorId, isInstallation = false }: Topic): void {
  const { changes } = useProgram();
  useEffect(() => {
    const end = new AbortController();
    void changes.follow({ frontdoorId, isInstallation }, end.signal);
    return () => end.abort();
  }, [changes, frontdoorId, isInstallation]);
}
