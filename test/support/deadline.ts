/** Waits for tests that name what they wait for; the only places where the clock is waited on. */

/** The promise's value, or an error that says what did not happen. */
export async function within<T>(what: string, promise: Promise<T>, timeoutMs = 15_000): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not within ${timeoutMs} ms: ${what}`)), timeoutMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Asks again until the answer is content; fails with its last word after `timeoutMs`. Returns how long it took, too. */
export async function until<T>(
  what: string,
  ask: () => Promise<T> | T,
  isContent: (value: T) => boolean,
  timeoutMs = 15_000,
): Promise<{ readonly value: T; readonly tookMs: number }> {
  const startedMs = performance.now();
  for (;;) {
    let last: string;
    try {
      const value = await ask();
      const tookMs = performance.now() - startedMs;
      if (isContent(value)) return { value, tookMs };
      last = JSON.stringify(value);
    } catch (error) {
      last = String(error);
    }
    if (performance.now() - startedMs > timeoutMs) {
      throw new Error(`not within ${timeoutMs} ms: ${what}; last: ${last.slice(0, 600)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
