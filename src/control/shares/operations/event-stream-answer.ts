/** What responses that are streams of events have in common. */
import type { Readable } from 'node:stream';
import { FrontdoorError } from '#base';
import { invalidValue } from '#domain';
import type { Principal } from '../../credentials/oauth/mod.ts';
import { tooMany } from './api-errors.ts';
import { unstored, type ApiAnswer, type Call } from './call.ts';

const RETRY_STREAM_SECONDS = 10;
/** Without it, nginx keeps events until its buffer is full. */
const UNBUFFERED = { 'x-accel-buffering': 'no' };

/** Throws the refusal of too many streams if there is none. */
export function streamAnswer(data: Readable | undefined): ApiAnswer<never> {
  if (data === undefined) throw tooMany(RETRY_STREAM_SECONDS);
  const raw = { contentType: 'text/event-stream', data };
  return unstored({ status: 200, raw, headers: UNBUFFERED });
}

/**
 * Returns undefined if the credential is no longer accepted, or permits something else than before: the reader then asks
 * again, and learns what it may do.
 */
export async function provenAgain({
  proveAgain,
  principal,
}: Pick<Call, 'proveAgain' | 'principal'>): Promise<Principal | undefined> {
  try {
    const now = await proveAgain();
    return hasSameRights(principal, now) ? now : undefined;
  } catch (error) {
    if (error instanceof FrontdoorError && error.kind === 'unauthenticated') return undefined;
    throw error;
  }
}

function hasSameRights(before: Principal, now: Principal): boolean {
  const scopes = new Set(now.scopes);
  return (
    before.organizationId === now.organizationId &&
    before.scopes.length === now.scopes.length &&
    before.scopes.every((scope) => scopes.has(scope))
  );
}

/** Returns the id of the last event that the reader has. Throws the refusal of an id of another form, named by `form`. */
export function lastEventIdOf(
  { request }: Pick<Call, 'request'>,
  isId: (text: string) => boolean,
  form: string,
): string | undefined {
  const value = request.headers['last-event-id'];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string' || !isId(value)) throw invalidValue('Last-Event-ID', form);
  return value;
}
