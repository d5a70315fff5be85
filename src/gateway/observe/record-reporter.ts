/**
 * Sends records of single requests to the control plane in batches, once a second, one at a time, and retries
 * while it is away. Records have ids, so a repeated one counts once. When there are too many, the oldest are
 * dropped and counted; requests never wait.
 */
import { BackOff, FrontdoorError, messageOf, type BackOffOptions, type Log } from '#base';
import { MAX_RECORD_BATCH } from '#domain/gateway-shapes';
import { waitAtMost } from '#net';

export interface RecordReporterOptions<T> {
  /** Name for the log: `failure records`. */
  readonly what: string;
  /** Resolves when the records were accepted. */
  readonly send: (records: readonly T[]) => Promise<void>;
  readonly log: Log;
  readonly maxRecords: number;
  readonly maxBytes: number;
  /** Called with each record that is dropped or refused. */
  readonly onLost?: (record: T) => void;
  readonly delayMs?: number;
  readonly backOff?: BackOffOptions;
}

interface Waiting<T> {
  readonly record: T;
  readonly bytes: number;
}

const DELAY_MS = 1_000;
/** Below the size limit of a body of the edge API. */
const MAX_BATCH_BYTES = 786_432;
const BACK_OFF: BackOffOptions = { minMs: 500, maxMs: 10_000, factor: 2 };

export class RecordReporter<T> {
  readonly #options: RecordReporterOptions<T>;
  readonly #backOff: BackOff;
  #waiting: Waiting<T>[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #delivery: Promise<void> | undefined;
  #dropped = 0;
  #isDropping = false;
  #closed = false;

  constructor(options: RecordReporterOptions<T>) {
    this.#options = options;
    this.#backOff = new BackOff(options.backOff ?? BACK_OFF);
  }

  /** Number of records that were lost. */
  get dropped(): number {
    return this.#dropped;
  }

  add(record: T): void {
    const { maxRecords, maxBytes } = this.#options;
    const bytes = Buffer.byteLength(JSON.stringify(record));
    if (this.#closed || bytes > Math.min(maxBytes, MAX_BATCH_BYTES)) {
      this.#drop([{ record, bytes }]);
      return;
    }
    this.#waiting.push({ record, bytes });
    this.#waitingBytes += bytes;
    let excess = 0;
    while (this.#waiting.length - excess > maxRecords || this.#waitingBytes > maxBytes) {
      this.#waitingBytes -= this.#waiting[excess]!.bytes;
      excess += 1;
    }
    if (excess > 0) {
      this.#drop(this.#waiting.splice(0, excess));
    }
    this.#plan(this.#options.delayMs ?? DELAY_MS);
  }

  /** Makes a last attempt, for at most `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    await waitAtMost(this.#deliverAll(), timeoutMs);
    const { log, what } = this.#options;
    if (this.#waiting.length > 0)
      log.warn({ records: this.#waiting.length }, `closed before all ${what} were reported`);
  }

  async #deliverAll(): Promise<void> {
    await this.#deliver();
    // The delivery that was in progress may have failed before this call.
    if (this.#waiting.length > 0) await this.#deliver();
  }

  #plan(delayMs: number): void {
    if (this.#timer !== undefined || this.#delivery !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => void this.#deliver(), delayMs);
    this.#timer.unref();
  }

  #deliver(): Promise<void> {
    this.#timer = undefined;
    this.#delivery ??= this.#sendAll().finally(() => {
      this.#delivery = undefined;
      if (this.#waiting.length > 0) this.#plan(this.#backOff.next());
    });
    return this.#delivery;
  }

  async #sendAll(): Promise<void> {
    const { log, what, send } = this.#options;
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      try {
        await send(batch.map(({ record }) => record));
      } catch (error) {
        if (!isRefusal(error)) {
          if (this.#backOff.attempts === 0) {
            log.warn(
              { hop: 'control', cause: messageOf(error) },
              `${what} cannot be reported now and are kept`,
            );
          }
          this.#giveBack(batch);
          return;
        }
        log.error(
          { hop: 'control', cause: messageOf(error) },
          `the control plane refused ${what}: they are lost`,
        );
        this.#lose(batch);
      }
      this.#isDropping = false;
      this.#backOff.reset();
    }
  }

  #nextBatch(): Waiting<T>[] {
    let count = 0;
    let bytes = 0;
    for (const waiting of this.#waiting) {
      if (count === MAX_RECORD_BATCH || (count > 0 && bytes + waiting.bytes > MAX_BATCH_BYTES)) break;
      count += 1;
      bytes += waiting.bytes;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  #giveBack(batch: readonly Waiting<T>[]): void {
    const { maxRecords, maxBytes } = this.#options;
    let kept = [...batch, ...this.#waiting];
    let bytes = kept.reduce((sum, waiting) => sum + waiting.bytes, 0);
    let excess = 0;
    while (kept.length - excess > maxRecords || bytes > maxBytes) {
      bytes -= kept[excess]!.bytes;
      excess += 1;
    }
    const lost = kept.slice(0, excess);
    kept = kept.slice(excess);
    this.#waiting = kept;
    this.#waitingBytes = bytes;
    if (excess > 0) this.#drop(lost);
  }

  #lose(lost: readonly Waiting<T>[]): void {
    this.#dropped += lost.length;
    const { onLost } = this.#options;
    if (onLost === undefined) return;
    for (const { record } of lost) onLost(record);
  }

  #drop(lost: readonly Waiting<T>[]): void {
    this.#lose(lost);
    if (this.#isDropping) return;
    this.#isDropping = true;
    this.#options.log.warn({}, `dropping ${this.#options.what}: there are too many`);
  }
}

/** Whether the control plane refused the records permanently. */
function isRefusal(error: unknown): boolean {
  return error instanceof FrontdoorError && (error.kind === 'invalid' || error.kind === 'tooLarge');
}
