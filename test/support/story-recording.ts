/**
 * The steps of a story that a test walks through in a browser, with times and addresses. FRONTDOOR_STORY_RECORDING=FILE keeps
 * them. Codes are left out: fragments, and values of queries that lead to other origins.
 */
import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { shownAddress } from './browser.ts';

const RECORDING = process.env['FRONTDOOR_STORY_RECORDING'];

export class StoryRecording {
  readonly #title: string;
  readonly #startedMs = performance.now();
  readonly #lines: string[] = [];

  constructor(title: string) {
    this.#title = title;
  }

  get durationMs(): number {
    return performance.now() - this.#startedMs;
  }

  /** Notes what someone did and saw, and where the page is then. `page` is undefined for what happens outside of a browser. */
  async step<T>(what: string, page: Page | undefined, act: () => Promise<T>): Promise<T> {
    const beganMs = this.durationMs;
    const result = await act();
    const at = page === undefined ? '' : `\n                    ${shownAddress(new URL(page.url()))}`;
    const took = `${seconds(this.durationMs - beganMs)} s`.padStart(7);
    this.#lines.push(`  ${seconds(beganMs).padStart(6)} s ${took}  ${what}${at}`);
    return result;
  }

  /** Writes the steps so far, if someone wants them. */
  keep(): void {
    if (RECORDING === undefined) return;
    const head = `${this.#title}\n\n    from    took  step, and the address after it\n`;
    writeFileSync(RECORDING, `${head}${this.#lines.join('\n')}\n\n  ${seconds(this.durationMs)} s in all\n`);
  }
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
