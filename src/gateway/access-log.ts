/** One line of JSON per served request, gathered and handed over in batches. The query is left out: it may hold secrets. */
export interface AccessRecord {
  readonly share: string;
  readonly client: string;
  readonly method: string;
  /** With or without its query: only the path is written. */
  readonly target: string;
  readonly status: number;
  /** Body bytes that came from the client and from the service. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

const BATCH_LINES = 256;

export class AccessLog {
  readonly #write: (lines: string) => void;
  #lines: string[] = [];

  /** `write` gets whole lines, each with its line feed. */
  constructor(write: (lines: string) => void) {
    this.#write = write;
  }

  record(record: AccessRecord): void {
    const query = record.target.indexOf('?');
    const path = query === -1 ? record.target : record.target.slice(0, query);
    const { target: _target, ...rest } = record;
    this.#lines.push(`${JSON.stringify({ atMs: Date.now(), ...rest, path })}\n`);
    if (this.#lines.length >= BATCH_LINES) this.flush();
  }

  flush(): void {
    if (this.#lines.length === 0) return;
    const lines = this.#lines.join('');
    this.#lines = [];
    this.#write(lines);
  }
}
