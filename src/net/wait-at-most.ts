/** Waits for work, but not longer than a limit. Unfinished work continues by itself. */

/** Resolves to whether the work was finished within the time. Rejects if the work does so within it. */
export async function waitAtMost(work: Promise<unknown>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
