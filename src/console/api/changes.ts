/**
 * One stream of changes per tab. Events name kind and id; the answers on the screen that show the kind are asked for again,
 * many events at once. While a dialog is open nothing moves under it. Hidden tabs close the stream after a while.
 */
import { useEffect, useSyncExternalStore } from 'react';
import { addressOf } from './call.ts';
import { queryClient, refreshKind } from './queries.ts';

export interface StreamState {
  readonly isOpen: boolean;
  /** When the stream was lost, in ms of the clock; undefined while it is open, or was never opened. */
  readonly lostAtMs: number | undefined;
}

/** Which stream is followed: a frontdoor's by its id, or the installation's. */
export type StreamTopic = { readonly frontdoorId: string } | 'installation' | undefined;

const GATHER_MS = 150;
const HIDDEN_MS = 30_000;
const RETRY_MS = [1_000, 2_000, 5_000, 10_000, 20_000];

let state: StreamState = { isOpen: false, lostAtMs: undefined };
let heldBy = 0;
const listeners = new Set<() => void>();
const waiting = new Set<string>();
let gather: ReturnType<typeof setTimeout> | undefined;

function setState(next: StreamState): void {
  if (next.isOpen === state.isOpen && next.lostAtMs === state.lostAtMs) return;
  state = next;
  for (const listener of listeners) listener();
}

export function useStreamState(): StreamState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Holds changes back while a dialog is open. */
export function useHeldChanges(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    heldBy += 1;
    return () => {
      heldBy -= 1;
      if (heldBy === 0) deliver();
    };
  }, [isOpen]);
}

function noted(kind: string): void {
  waiting.add(kind);
  gather ??= setTimeout(() => {
    gather = undefined;
    deliver();
  }, GATHER_MS);
}

function deliver(): void {
  if (heldBy > 0) return;
  const kinds = [...waiting];
  waiting.clear();
  for (const kind of kinds) refreshKind(queryClient, kind);
}

/** Any kind: every answer is asked for again. */
const EVERYTHING = '*';

/** Follows the stream for as long as the component is there. */
export function useChanges(topic: StreamTopic): void {
  const key = topic === undefined ? '' : topic === 'installation' ? topic : topic.frontdoorId;
  useEffect(() => {
    if (key === '') return undefined;
    return follow(
      key === 'installation'
        ? addressOf('followInstallationChanges', {})
        : addressOf('followFrontdoorChanges', { parameters: { frontdoorId: key } }),
    );
  }, [key]);
}

function follow(address: string): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let tries = 0;
  let wasOpen = false;

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = () => {
    close();
    const opened = new EventSource(address);
    source = opened;
    opened.onopen = () => {
      tries = 0;
      // What happened while there was no stream is not known.
      if (wasOpen) noted(EVERYTHING);
      wasOpen = true;
      setState({ isOpen: true, lostAtMs: undefined });
    };
    opened.onerror = () => {
      setState({ isOpen: false, lostAtMs: state.lostAtMs ?? Date.now() });
      close();
      const delayMs = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]!;
      tries += 1;
      timer = setTimeout(open, delayMs * (0.75 + Math.random() / 2));
    };
    opened.addEventListener('change', ({ data }: MessageEvent<string>) => {
      const { kind } = JSON.parse(data) as { readonly kind: string };
      noted(kind);
    });
    opened.addEventListener('reset', () => noted(EVERYTHING));
  };
  const onVisibility = () => {
    clearTimeout(timer);
    if (document.hidden) {
      timer = setTimeout(close, HIDDEN_MS);
    } else if (source === undefined) {
      open();
    }
  };

  document.addEventListener('visibilitychange', onVisibility);
  open();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    close();
    setState({ isOpen: false, lostAtMs: undefined });
  };
}
