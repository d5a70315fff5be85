/** One way to install Frontdoor, from a bare machine to an answering share, and its report. */

export interface Install {
  readonly name: string;
  /** What works afterwards. */
  readonly shows: string;
  /** Programs of this machine, and the Debian packages that bring them. */
  readonly needs: Readonly<Record<string, string>>;
  readonly run: (transcript: Transcript) => Promise<void>;
}

interface Row {
  readonly step: string;
  readonly seconds: number;
  readonly megabytes: number | undefined;
}

const BYTES_PER_MEGABYTE = 1_000_000;

/** Prints each step as it ends, and a table of all. */
export class Transcript {
  readonly #name: string;
  readonly #rows: Row[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  /** `bytesOf` gives the size of what the step brings. */
  async step<T>(step: string, work: () => T | Promise<T>, bytesOf?: (result: T) => number): Promise<T> {
    const startedMs = performance.now();
    const result = await work();
    const seconds = (performance.now() - startedMs) / 1_000;
    const megabytes = bytesOf && bytesOf(result) / BYTES_PER_MEGABYTE;
    this.#rows.push({ step, seconds, megabytes });
    const size = megabytes === undefined ? '' : `, ${megabytes.toFixed(1)} MB`;
    console.log(`  ${this.#name}: ${step} (${seconds.toFixed(1)} s${size})`);
    return result;
  }

  /** What a command printed. */
  note(text: string): void {
    for (const line of text.trimEnd().split('\n')) console.log(`    ${line}`);
  }

  table(): string {
    const rows = this.#rows.map(
      ({ step, seconds, megabytes }) =>
        `| ${this.#name} | ${step} | ${seconds.toFixed(1)} | ${megabytes?.toFixed(1) ?? ''} |`,
    );
    return ['| way | step | s | MB |', '|---|---|---|---|', ...rows, ''].join('\n');
  }
}
