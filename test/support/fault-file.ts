/** Plants an exception in a running program of `planted-faults.ts`, once in each of its processes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PRELOAD = join(import.meta.dirname, 'planted-faults.ts');

export class FaultFile {
  readonly #path: string;

  constructor(folder: string) {
    this.#path = join(folder, 'faults');
    this.clear();
  }

  /** Options of the program's process. */
  get process() {
    return {
      nodeArgs: ['--import', PRELOAD],
      env: { FRONTDOOR_TEST_FAULTS: this.#path, FRONTDOOR_FROM_SOURCES: '1' },
    } as const;
  }

  /** `place` is a name of `FAULT_PLACES`. */
  plant(place: string): void {
    writeFileSync(this.#path, `${place} 1`);
  }

  clear(): void {
    writeFileSync(this.#path, '');
  }
}
