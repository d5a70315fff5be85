/**
 * Entity tags and the conditions on them (RFC 9110 §8.8.3, §13.1): a keyed hash of what is stored, so that a tag is the
 * same at every control plane, changes with each stored value, secrets included, and discloses none of them.
 */
import type { IncomingMessage } from 'node:http';
import { FrontdoorError } from '#base';
import { invalidValue } from '#domain';
import type { Secrets } from '../secrets/mod.ts';
import type { ApiAnswer } from './call.ts';

const PURPOSE = 'entity tag';
const TAG_BYTES = 16;

interface TaggingParts {
  readonly secrets: Pick<Secrets, 'tag'>;
}

/** The strong tag of a JSON value: the answer to a read where that is complete, else everything that is stored. */
export function entityTagOf({ secrets }: TaggingParts, stored: unknown): string {
  const data = Buffer.from(JSON.stringify(stored));
  return `"${secrets.tag(PURPOSE, data, TAG_BYTES).toString('base64url')}"`;
}

/** The answer with the tag of what is stored, where that is not the answer itself. */
export function tagged(parts: TaggingParts, answer: ApiAnswer, stored: unknown): ApiAnswer {
  return { ...answer, headers: { ...answer.headers, etag: entityTagOf(parts, stored) } };
}

/**
 * Holds a change to what its caller has read. Called in the transaction of the change, with what it locked: of those who
 * read the same, one alone goes on. Throws `preconditionFailed`, or `invalid` for what is no list of tags.
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

/** Throws unless the tag is among those of `If-Match`, and none of those of `If-None-Match`. */
export function checkConditions({ headers }: Pick<IncomingMessage, 'headers'>, tag: string): void {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined && !isListed(ifMatch, tag)) {
    throw failed('It has changed since it was read: its ETag is none of those in If-Match');
  }
  if (ifNoneMatch !== undefined && isHeld(ifNoneMatch, tag)) throw failed('It is what If-None-Match names');
}

/** The strong comparison: a weak tag is never the same as anything. */
function isListed(header: string, tag: string): boolean {
  if (header.trim() === '*') return true;
  const tags = tagsOf(header);
  if (tags === undefined) throw invalidValue('If-Match', '* or a list of entity tags');
  return tags.includes(tag);
}

/** The weak comparison, for what a reader holds already. A list that is none names nothing. */
export function isHeld(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return tagsOf(ifNoneMatch)?.some((each) => each.replace(/^W\//, '') === tag) ?? false;
}

/** One element of the list, which may be empty, and what ends it. */
const ELEMENT = /[ \t]*((?:W\/)?"[\x21\x23-\x7E\x80-\xFF]*")?[ \t]*(,|$)/y;

/** Undefined when it is no list of tags, or an empty one. */
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
  return new FrontdoorError('preconditionFailed', 'precondition_failed', message);
}
