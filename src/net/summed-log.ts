/**
 * Keeps an outage short in the log: the first line about a subject is written at once, and what repeats is counted. While it
 * continues, one line a minute has the sums. `QuietLog` limits what peers can cause; this is for failures that have many results.
 */
import type { Log, LogFields } from '#base';

const INTERVAL_MS = 60_000;
const MAX_SUBJECTS = 1_000;

interface Subject {
  readonly message: string;
  count: number;
  last: LogFields;
}

export class SummedLog {
  readonly #log: Log;
  readonly #intervalMs: number;
  readonly #subjects = new Map<string, Subject>();
  /** Occurrences of subjects beyond the bound, by their message. */
  readonly #others = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log, intervalMs = INTERVAL_MS) {
    this.#log = log;
    this.#intervalMs = intervalMs;
  }

  /** `subject` is what fails, such as a share with its reason; `message` must be constant. */
  info(subject: string, fields: LogFields, message: string): void {
    this.#timer ??= setInterval(() => this.sum(), this.#intervalMs).unref();
    const key = `${message} ${subject}`;
    const known = this.#subjects.get(key);
    if (known !== undefined) {
      known.count += 1;
      known.last = fields;
      return;
    }
    if (this.#subjects.size >= MAX_SUBJECTS) {
      this.#others.set(message, (this.#others.get(message) ?? 0) + 1);
      return;
    }
    this.#subjects.set(key, { message, count: 0, last: fields });
    this.#log.info(fields, message);
  }

  /** Writes the sums since the last call. A subject without any has ended: its next line is written at once. */
  sum(): void {
    const sums = new Map<string, { times: number; subjects: number; last: LogFields }>();
    for (const [key, subject] of this.#subjects) {
      const { message, count, last } = subject;
      if (count === 0) {
        this.#subjects.delete(key);
        continue;
      }
      subject.count = 0;
      const { times = 0, subjects = 0 } = sums.get(message) ?? {};
      sums.set(message, { times: times + count, subjects: subjects + 1, last });
    }
    for (const [message, count] of this.#others) {
      const { times = 0, subjects = 0, last = {} } = sums.get(message) ?? {};
      sums.set(message, { times: times + count, subjects, last });
    }
    this.#others.clear();
    for (const [message, { times, subjects, last }] of sums)
      this.#log.info(
        { ...last, times, subjects, seconds: this.#intervalMs / 1_000 },
        `${message}, repeatedly`,
      );
    if (this.#subjects.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
