/**
 * Files of the program that are loaded later: pages and dialogs. They are fetched when the browser has nothing else to do, so that a
 * page opens while the control plane is away; one that cannot be loaded then is an error that the person can try again.
 */
import { place } from '../place.ts';
import { isApiError } from './api-error.ts';
import { acceptedSession } from './call.ts';

/** The first page has what it needs by then. */
const IDLE_AFTER_MS = 3_000;
const RELOADED = 'frontdoor-reloaded';

const files: (() => Promise<unknown>)[] = [];

export interface LaterFile<T> {
  /** Undefined until it is loaded. */
  readonly current: T | undefined;
  /** Loads it, and again after a failure. */
  load(): Promise<T>;
}

export function laterFile<T>(fetchFile: () => Promise<T>): LaterFile<T> {
  const file: { current: T | undefined; loading: Promise<T> | undefined } = {
    current: undefined,
    loading: undefined,
  };
  const load = async (): Promise<T> => {
    try {
      file.current = await fetchFile();
      return file.current;
    } catch (cause) {
      file.loading = undefined;
      throw await reasonOf(cause);
    }
  };
  const once = () => (file.loading ??= load());
  files.push(async () => file.current ?? fetchFile());
  return {
    get current() {
      return file.current;
    },
    load: once,
  };
}

/** Fetches all of them, one after another, until one cannot be loaded. */
export function fetchFilesWhenIdle(): void {
  const next = async (): Promise<void> => {
    for (const fetchFile of files) {
      if (
        !(await fetchFile().then(
          () => true,
          () => false,
        ))
      )
        return;
      await new Promise((done) => whenIdle(() => done(undefined)));
    }
  };
  setTimeout(() => whenIdle(() => void next()), IDLE_AFTER_MS);
}

function whenIdle(act: () => void): void {
  // Safari lacks it.
  if ('requestIdleCallback' in window) requestIdleCallback(act);
  else setTimeout(act);
}

/** A control plane that answers has another build of the program: the page is loaded again, once. */
async function reasonOf(cause: unknown): Promise<unknown> {
  const refusal: unknown = await acceptedSession().catch((error: unknown) => error);
  if (isApiError(refusal)) return refusal;
  if (sessionStorage.getItem(RELOADED) === place.build) return cause;
  sessionStorage.setItem(RELOADED, place.build);
  window.location.reload();
  return new Promise(() => undefined);
}
