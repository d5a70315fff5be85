/** A row of the batteries: checks against a running product, counted and reported as "N of N (K lost), seed". */
import type { BatteryProduct, BatteryProductOptions } from './battery-product.ts';

export interface BatteryRowContext {
  /** The short form, for `npm test`. */
  readonly quick: boolean;
  readonly seed: number;
  /** Figures beside the counts. */
  readonly note: (line: string) => void;
  /**
   * Prints a line at once. On a slow machine a row takes minutes, and a process that prints nothing for long is taken
   * to hang.
   */
  readonly progress: (line: string) => void;
}

export interface BatteryRow {
  /** As in the test plan: `H1`. */
  readonly id: string;
  readonly title: string;
  /** How the product is started for it; with its defaults when absent. */
  readonly product?: BatteryProductOptions;
  /** The row starts what it needs by itself; `run` is given no product. */
  readonly hasOwnProduct?: true;
  /** The row needs a machine whose kernel is set up for slow clients. */
  readonly needsSetUpKernel?: boolean;
  run(context: BatteryRowContext, product: BatteryProduct): Promise<Tally>;
}

/** A row that cannot run here; the message is the reason. */
export class RowSkipped extends Error {}

const MAX_PROBLEMS = 40;

/** Counts checks, and keeps the first failures. */
export class Tally {
  total = 0;
  passed = 0;
  readonly problems: string[] = [];

  /** `detail` is called only when the check fails. */
  check(isGood: boolean, name: string, detail: () => string = () => ''): boolean {
    this.total += 1;
    if (isGood) {
      this.passed += 1;
      return true;
    }
    if (this.problems.length < MAX_PROBLEMS) {
      const detailText = detail();
      this.problems.push(detailText === '' ? name : `${name}: ${detailText}`);
    }
    return false;
  }

  /** Many checks of one kind, of which `failed` failed. */
  count(passed: number, failed: number, name: string): void {
    this.total += passed + failed;
    this.passed += passed;
    if (failed > 0) this.problems.push(`${name}: ${failed} of ${passed + failed} failed`);
  }

  get lost(): number {
    return this.total - this.passed;
  }

  get isGood(): boolean {
    return this.total > 0 && this.lost === 0;
  }

  line(id: string, seed: number): string {
    return `${id}: ${this.passed} of ${this.total} (${this.lost} lost), seed ${seed}`;
  }
}
