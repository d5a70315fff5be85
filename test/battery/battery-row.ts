/** What a row of the batteries is: checks against a running product, counted, and reported as "N of N (K lost), seed". */
import type { BatteryProduct, BatteryProductOptions } from './battery-product.ts';

export interface BatteryRowContext {
  /** The short form, for `npm test`. */
  readonly quick: boolean;
  readonly seed: number;
  /** Figures beside the counts. */
  readonly note: (line: string) => void;
  /** Told at once: on a slow machine a row takes minutes, and who says nothing for long is taken to hang. */
  readonly progress: (line: string) => void;
}

export interface BatteryRow {
  /** As in the test plan: `H1`. */
  readonly id: string;
  readonly title: string;
  /** How the product is started for it; with its defaults when absent. */
  readonly product?: BatteryProductOptions;
  /** What it measures is the product on a machine that is set up for slow clients. */
  readonly needsSetUpKernel?: boolean;
  run(context: BatteryRowContext, product: BatteryProduct): Promise<Tally>;
}

/** A row that cannot run here; the message is the reason. */
export class RowSkipped extends Error {}

const MAX_PROBLEMS = 40;

/** Counts checks; keeps what failed, as far as anybody reads it. */
export class Tally {
  total = 0;
  passed = 0;
  readonly problems: string[] = [];

  /** `detail` is asked only when the check fails. */
  check(isGood: boolean, name: string, detail: () => string = () => ''): boolean {
    this.total += 1;
    if (isGood) {
      this.passed += 1;
      return true;
    }
    if (this.problems.length < MAX_PROBLEMS) {
      const said = detail();
      this.problems.push(said === '' ? name : `${name}: ${said}`);
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
