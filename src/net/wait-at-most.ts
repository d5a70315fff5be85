/** Waits for work, but not longer than a limit. Unfinished work continues by itself. */

/** Rejects if the work does so within the time. */
export async function waitAtMost(work: Promise<unknown>, ms: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
