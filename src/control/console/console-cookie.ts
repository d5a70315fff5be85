/**
 * The cookie of a session at the console. Its prefix `__Host-` keeps other hosts and plain HTTP from setting it; gateways
 * never pass a cookie of that name to an origin, because cookies know no ports.
 */
import type { IncomingMessage } from 'node:http';

const NAME = '__Host-frontdoor-console';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';
/** 256 bits in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** Returns the token of the request's session, or undefined. */
export function sessionTokenOf(request: IncomingMessage): string | undefined {
  const token = cookieOf(request, NAME);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
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
