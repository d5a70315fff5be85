/** The log of a process of Frontdoor from now on, record by record. */
import type { PartProcess } from './part-process.ts';
import { until } from './deadline.ts';

export interface LoggedRecord {
  readonly msg: string;
  /** When it was written, in ms since 1970. */
  readonly atMs: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

const MAX_RECORDS = 20_000;

export class LogWatch {
  readonly records: LoggedRecord[] = [];
  readonly #stop: () => void;

  constructor(part: Pick<PartProcess, 'watch'>) {
    this.#stop = part.watch((line) => {
      if (!line.startsWith('{') || this.records.length >= MAX_RECORDS) return;
      const fields = fieldsOf(line);
      if (fields === undefined) return;
      this.records.push({ msg: String(fields['msg']), atMs: Date.parse(String(fields['time'])), fields });
    });
  }

  count(msg: string): number {
    return this.records.filter((record) => record.msg === msg).length;
  }

  /** The first record with this message since the watch began. */
  async first(msg: string, timeoutMs: number): Promise<LoggedRecord> {
    const found = (): LoggedRecord | undefined => this.records.find((record) => record.msg === msg);
    await until(`a log record "${msg}"`, () => found() !== undefined, Boolean, timeoutMs);
    return found()!;
  }

  close(): void {
    this.#stop();
  }
}

/** Undefined: the half of a line that a killed process leaves. */
function fieldsOf(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
