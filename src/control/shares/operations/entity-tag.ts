/**
 * Entity tags and conditions on them (RFC 9110 §8.8.3, §13.1). A tag is a keyed hash of the stored state, so that
 * it is equal at every control plane, changes with each stored value, including secrets, and reveals none of
 * them.
 */
import type { IncomingMessage } from 'node:http';
import { FrontdoorError } from '#base';
import { invalidValue } from '#domain';
import type { Secrets } from '../../secrets/mod.ts';
import type { ApiAnswer } from './call.ts';

const PURPOSE = 'entity tag';
const TAG_BYTES = 16;

interface TaggingParts {
  readonly secrets: Pick<Secrets, 'tag'>;
}

/**
 * Returns the strong tag of a JSON value: the response to a read if that is complete, otherwise everything that
 * is stored.
 */
export function entityTagOf({ secrets }: TaggingParts, stored: unknown): string {
  const data = Buffer.from(JSON.stringify(stored));
  return `"${secrets.tag(PURPOSE, data, TAG_BYTES).toString('base64url')}"`;
}

/** Returns the response with the tag of the stored state, if that differs from the response. */
export function tagged<Body>(parts: TaggingParts, answer: ApiAnswer<Body>, stored: unknown): ApiAnswer<Body> {
  return { ...answer, headers: { ...answer.headers, etag: entityTagOf(parts, stored) } };
}

/**
 * Checks `If-Match` for a change. Called in the transaction of the change with the locked state, so that of
 * several callers with the same tag only one succeeds. Throws `preconditionFailed`, or `invalid` for a malformed
 * list.
 */
export function checkIfMatch(
  parts: TaggingParts,
  { request }: { readonly request: IncomingMessage },
  stored: unknown,
): void {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) return;
  checkConditions(request, entityTagOf(parts, stored));
}

/** Throws unless the tag is in `If-Match`, and not in `If-None-Match`. */
export function checkConditions({ headers }: Pick<IncomingMessage, 'headers'>, tag: string): void {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined && !isListed(ifMatch, tag)) {
    throw failed('It has changed since it was read: its ETag is none of those in If-Match');
  }
  if (ifNoneMatch !== undefined && isHeld(ifNoneMatch, tag)) throw failed('It is what If-None-Match names');
}

/** The strong comparison: a weak tag never matches. */
function isListed(header: string, tag: string): boolean {
  if (header.trim() === '*') return true;
  const tags = tagsOf(header);
  if (tags === undefined) throw invalidValue('If-Match', '* or a list of entity tags');
  return tags.includes(tag);
}

/** The weak comparison, for a reader's cached response. A malformed list matches nothing. */
export function isHeld(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return tagsOf(ifNoneMatch)?.some((each) => each.replace(/^W\//, '') === tag) ?? false;
}

/** One element of the list, which may be empty, and its terminator. */
const ELEMENT = /[ \t]*((?:W\/)?"[\x21\x23-\x7E\x80-\xFF]*")?[ \t]*(,|$)/y;

/** Returns undefined if the value is not a list of tags, or an empty one. */
function tagsOf(header: string): readonly string[] | undefined {
  const tags: string[] = [];
  ELEMENT.lastIndex = 0;
  for (let end = ','; end === ',';) {
    const found = ELEMENT.exec(header);
    if (found === null) return undefined;
    const [, tag, next = ''] = found;
    if (tag !== undefined) tags.push(tag);
    end = next;
  }
  return tags.length === 0 ? undefined : tags;
}

function failed(message: string): FrontdoorError {
  return new FrontdoorError('preconditionFailed', 'precondition-failed', message);
}
