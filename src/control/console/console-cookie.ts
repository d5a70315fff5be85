/**
 * The cookie of a session at the console. Its prefix `__Host-` keeps other hosts and plain HTTP from setting it; gateways
 * never pass a cookie of that name to an origin, because cookies know no ports.
 */
import type { IncomingMessage } from 'node:http';

const NAME = '__Host-frontdoor-console';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';
/** 256 bits in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** Ten minutes, for people who have to find a second factor first. */
export const ATTEMPT_MS = 600_000;
/** A log-in through an identity provider, whose redirect brings the cookie back: thus `Lax`. */
const ATTEMPT_NAME = '__Host-frontdoor-console-log-in';
const ATTEMPT_ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/** A test sign-in, whose redirect brings the cookie back, too. */
const TEST_NAME = '__Host-frontdoor-console-test';

/** The language that someone chose in the console, which its script sets; it outlives the session. */
const LANGUAGE_NAME = '__Host-frontdoor-console-language';

/** A log-in that waits for the second factor. */
const STEP_NAME = '__Host-frontdoor-console-step';

/** Returns the token of the request's session, or undefined. */
export function sessionTokenOf(request: IncomingMessage): string | undefined {
  const token = cookieOf(request, NAME);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/** Returns the sealed log-in of the request's browser, or undefined. */
export function attemptOf(request: IncomingMessage): string | undefined {
  return cookieOf(request, ATTEMPT_NAME);
}

export function attemptCookie(sealed: string): string {
  return `${ATTEMPT_NAME}=${sealed}; ${ATTEMPT_ATTRIBUTES}; Max-Age=${ATTEMPT_MS / 1_000}`;
}

export const ATTEMPT_COOKIE_ENDED = `${ATTEMPT_NAME}=; ${ATTEMPT_ATTRIBUTES}; Max-Age=0`;

/** Returns the sealed test sign-in of the request's browser, or undefined. */
export function signInTestOf(request: IncomingMessage): string | undefined {
  return cookieOf(request, TEST_NAME);
}

export function signInTestCookie(sealed: string, lifetimeMs: number): string {
  return `${TEST_NAME}=${sealed}; ${ATTEMPT_ATTRIBUTES}; Max-Age=${lifetimeMs / 1_000}`;
}

export const SIGN_IN_TEST_COOKIE_ENDED = `${TEST_NAME}=; ${ATTEMPT_ATTRIBUTES}; Max-Age=0`;

/** Returns the sealed step of a log-in that waits for its second factor, or undefined. */
export function stepOf(request: IncomingMessage): string | undefined {
  return cookieOf(request, STEP_NAME);
}

export function stepCookie(sealed: string): string {
  return `${STEP_NAME}=${sealed}; ${ATTRIBUTES}; Max-Age=${ATTEMPT_MS / 1_000}`;
}

export const STEP_COOKIE_ENDED = `${STEP_NAME}=; ${ATTRIBUTES}; Max-Age=0`;

/** Returns the language that someone chose in the console of the request's browser: any text, or undefined. */
export function chosenLanguageOf(request: IncomingMessage): string | undefined {
  return cookieOf(request, LANGUAGE_NAME);
}

/** Two cookies of the name are none. */
function cookieOf({ headers }: IncomingMessage, name: string): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

export function sessionCookie(token: string): string {
  return `${NAME}=${token}; ${ATTRIBUTES}`;
}

export const ENDED_COOKIE = `${NAME}=; ${ATTRIBUTES}; Max-Age=0`;
