/**
 * The state parameter of a log-in: 256 random bits and a tag that proves their origin, so that guesses are
 * refused without a query.
 */
import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../secrets/mod.ts';

const RANDOM_BYTES = 32;
const TAG_BYTES = 16;
const PURPOSE = 'login state';
/** Both parts in base64url. */
const FORM = /^[\w-]{64}$/;

export function makeLoginState(secrets: Pick<Secrets, 'tag'>): string {
  const random = randomBytes(RANDOM_BYTES);
  return Buffer.concat([random, secrets.tag(PURPOSE, random, TAG_BYTES)]).toString('base64url');
}

export function isLoginState(secrets: Pick<Secrets, 'isTag'>, state: string): boolean {
  if (!FORM.test(state)) return false;
  const bytes = Buffer.from(state, 'base64url');
  return secrets.isTag(PURPOSE, bytes.subarray(0, RANDOM_BYTES), bytes.subarray(RANDOM_BYTES));
}
