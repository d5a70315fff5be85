/** Carries out one task for each item, a bounded number at a time. A task that fails does not stop the others. */

export type TaskOutcome<Result> =
  | { readonly isDone: true; readonly result: Result }
  | { readonly isDone: false; readonly error: Error };

/** More would have to wait at the control plane, and other tabs with them. */
export const MOST_AT_ONCE = 4;

/** Reports each outcome as it comes. After `signal` is aborted no further task begins, and nothing is reported. */
export async function runEach<Item, Result>(
  items: readonly Item[],
  task: (item: Item) => Promise<Result>,
  report: (item: Item, outcome: TaskOutcome<Result>) => void,
  signal: AbortSignal,
): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) {
      if (signal.aborted) return;
      const outcome = await outcomeOf(async () => task(item));
      if (!signal.aborted) report(item, outcome);
    }
  };
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, worker));
}

async function outcomeOf<Result>(task: () => Promise<Result>): Promise<TaskOutcome<Result>> {
  try {
    return { isDone: true, result: await task() };
  } catch (error) {
    return { isDone: false, error: error instanceof Error ? error : new Error(String(error)) };
  }
}
