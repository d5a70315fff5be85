/**
 * The groups of a run that have not begun, longest first. Those that mostly wait are given to extra workers: beside tests
 * that compute they cost little, and a worker for each core would leave the cores idle while it waits with them.
 */
import type { TestGroup } from './test-group-policy.ts';
import { longestFirst, mostlyWaits } from './test-tier-table.ts';

export class TestQueue {
  readonly #computing: TestGroup[];
  readonly #waiting: TestGroup[];

  constructor(groups: readonly TestGroup[], durationsMs: ReadonlyMap<string, number>) {
    const ordered = longestFirst(groups, durationsMs);
    this.#waiting = ordered.filter(mostlyWaits);
    this.#computing = ordered.filter((group) => !mostlyWaits(group));
  }

  /** Takes the next group: for a worker of kind `waiting` only one that waits, for others one that computes, if any is left. */
  next(worker: 'any' | 'waiting'): TestGroup | undefined {
    return worker === 'waiting' ? this.#waiting.shift() : (this.#computing.shift() ?? this.#waiting.shift());
  }

  /** The group begins before all others of its kind. */
  putBack(group: TestGroup): void {
    (mostlyWaits(group) ? this.#waiting : this.#computing).unshift(group);
  }
}
