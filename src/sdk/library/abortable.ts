/** Ends a wait when its signal is aborted. */
import { sdkErrorOf } from './sdk-error.ts';

/**
 * Resolves like `work`, whose errors become `SdkError`s. Rejects with the reason of `signal` as soon as that is aborted;
 * what `work` results in later is passed to `discard`.
 */
export async function abortable<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
  discard: (late: T) => void = () => {},
): Promise<T> {
  signal?.throwIfAborted();
  if (signal === undefined) return work().catch(rethrow);
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let isAborted = false;
  const onAbort = (): void => {
    isAborted = true;
    reject(signal.reason as Error);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    work().then(
      (value) => (isAborted ? discard(value) : resolve(value)),
      (error: unknown) => reject(sdkErrorOf(error)),
    );
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function rethrow(error: unknown): never {
  throw sdkErrorOf(error);
}
