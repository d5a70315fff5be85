/** Waits for work whose end is worth a while and no more: what is still going on afterwards goes on by itself. */

/** Rejects when the work does, before its time is over. */
export async function waitAtMost(work: Promise<unknown>, ms: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
