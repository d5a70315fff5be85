/** What responses that are streams of events have in common. */
import type { Readable } from 'node:stream';
import { FrontdoorError } from '#base';
import { invalidValue } from '#domain';
import type { Principal } from '../oauth/mod.ts';
import { tooMany } from './api-errors.ts';
import { unstored, type ApiAnswer, type Call } from './call.ts';

const RETRY_STREAM_SECONDS = 10;

/** Throws the refusal of too many streams if there is none. */
export function streamAnswer(data: Readable | undefined): ApiAnswer<never> {
  if (data === undefined) throw tooMany(RETRY_STREAM_SECONDS);
  return unstored({ status: 200, raw: { contentType: 'text/event-stream', data } });
}

/** Returns undefined if the credential is no longer accepted. */
export async function provenAgain(call: Pick<Call, 'proveAgain'>): Promise<Principal | undefined> {
  try {
    return await call.proveAgain();
  } catch (error) {
    if (error instanceof FrontdoorError && error.kind === 'unauthenticated') return undefined;
    throw error;
  }
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
