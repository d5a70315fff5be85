/**
 * The state parameter of a log-in: 256 random bits and a tag that proves their origin, so that guesses are
 * refused without a query. States of log-ins at shares or at the console, and of test sign-ins, have different tags.
 */
import { randomBytes } from 'node:crypto';
import type { Secrets } from '../../secrets/mod.ts';

const RANDOM_BYTES = 32;
const TAG_BYTES = 16;
const LOGIN = 'login state';
const TEST = 'state of a sign-in test';
/** Both parts in base64url. */
const FORM = /^[\w-]{64}$/;

export function makeLoginState(secrets: Pick<Secrets, 'tag'>): string {
  return made(secrets, LOGIN);
}

export function isLoginState(secrets: Pick<Secrets, 'isTag'>, state: string): boolean {
  return isMade(secrets, LOGIN, state);
}

export function makeTestState(secrets: Pick<Secrets, 'tag'>): string {
  return made(secrets, TEST);
}

export function isTestState(secrets: Pick<Secrets, 'isTag'>, state: string): boolean {
  return isMade(secrets, TEST, state);
}

function made(secrets: Pick<Secrets, 'tag'>, purpose: string): string {
  const random = randomBytes(RANDOM_BYTES);
  return Buffer.concat([random, secrets.tag(purpose, random, TAG_BYTES)]).toString('base64url');
}

function isMade(secrets: Pick<Secrets, 'isTag'>, purpose: string, state: string): boolean {
  if (!FORM.test(state)) return false;
  const bytes = Buffer.from(state, 'base64url');
  return secrets.isTag(purpose, bytes.subarray(0, RANDOM_BYTES), bytes.subarray(RANDOM_BYTES));
}
