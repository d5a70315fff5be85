/** What everybody who tells of a request reads out of its record alike. Pure over the record but for the wall clock. */
import { performance } from 'node:perf_hooks';
import type { RequestTimings } from '#domain';
import type { RequestRecord } from '../exchange/request-record.ts';

/** Without its query: that may hold secrets. */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

/** '' when it came without a usable `traceparent`. */
export function traceIdOf({ traceParent }: RequestRecord): string {
  return traceParent === '' ? '' : traceParent.slice(3, 35);
}

/** Unix milliseconds of a monotonic moment of this process. */
export function unixMsOf(monotonicMs: number): number {
  return Math.round(monotonicMs + (Date.now() - performance.now()));
}

/** Since the end of the head, to the microsecond; null: not reached. */
export function timingsOf(record: RequestRecord): RequestTimings {
  const since = (ms: number): number | null =>
    ms === 0 ? null : Math.round((ms - record.startedMs) * 1_000) / 1_000;
  return {
    decidedMs: since(record.decidedMs),
    circuitMs: since(record.circuitMs),
    firstByteMs: since(record.firstByteMs),
    doneMs: since(record.doneMs),
  };
}

/** Subject, and e-mail when there is one. */
export function identityTextOf({ identity }: RequestRecord): string | null {
  if (identity === undefined) return null;
  const { subject, email } = identity;
  return email === null || email === subject ? subject : `${subject} <${email}>`;
}
