/** Values that all observers derive from a request's record in the same way. Pure, except for the wall clock. */
import { performance } from 'node:perf_hooks';
import type { RequestTimings } from '#domain/gateway-shapes';
import type { RequestRecord } from '../exchange/request-record.ts';

/** The path without its query, which may contain secrets. */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

/** '' if there was no usable `traceparent`. */
export function traceIdOf({ traceParent }: RequestRecord): string {
  return traceParent === '' ? '' : traceParent.slice(3, 35);
}

/** Converts a monotonic time of this process to Unix milliseconds. */
export function unixMsOf(monotonicMs: number): number {
  return Math.round(monotonicMs + (Date.now() - performance.now()));
}

/** Times since the end of the head, with a resolution of a microsecond; null: not reached. */
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

/** The subject, and the e-mail address if there is one. */
export function identityTextOf({ identity }: RequestRecord): string | null {
  if (identity === undefined) return null;
  const { subject, email } = identity;
  return email === null || email === subject ? subject : `${subject} <${email}>`;
}
