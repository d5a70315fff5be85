/**
 * Shares behind a log-in: a session made by a real walk through a real OpenID provider, as a browser would. The cookie is
 * then what every request of the load carries.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { DEFAULT_CLIENT, startIdentityProvider } from '../../support/identity-provider.ts';
import { get } from '../check-client.ts';
import { BrowserWalk } from './browser-walk.ts';
import type { Door } from '../idle-connections.ts';
import type { Front } from './bench-front.ts';
import { frontOf, makeShares, untilAnswers, type FrontMaker } from './guarded-shares.ts';

const SESSION_COOKIE = '__Host-frontdoor-session';
const PERSON = { sub: 'benchmark', email: 'benchmark@example.com' };
/** The control plane fetches a new provider's metadata first. */
const LOGIN_DEADLINE_MS = 20_000;
/** Log-ins are limited per address. */
const RETRY_MS = 1_000;

/** Without a plain door where a session does not count on plain HTTP. Throws when nobody can log in. */
export async function sessionFront(maker: FrontMaker, displayName: string, share: string): Promise<Front> {
  await using identityProvider = await startIdentityProvider({ users: [PERSON] });
  identityProvider.loggedInAs = PERSON.sub;
  const provider = await maker.product.call('POST', '/auth-providers', {
    name: `log-in of ${share}`,
    type: 'OIDC',
    data: {
      issuer: identityProvider.issuer,
      client_id: DEFAULT_CLIENT.id,
      client_secret: DEFAULT_CLIENT.secret,
    },
  });
  await makeShares(maker, share, [provider['id']]);
  const asked = frontOf(maker, displayName, share);
  await untilAnswers(asked.secure, 401, { ca: maker.certificate.ca });
  const front = frontOf(maker, displayName, share, await logIn(maker, asked.secure));
  await untilAnswers(front.secure, 200, front.secure.entrance);
  // The echo is another share, and a session is of one share alone.
  const echo = frontOf(maker, displayName, share, await logIn(maker, asked.secureEcho));
  const { status } = await get(front.plain.port, front.plain.host, '/small', front.plain.entrance);
  const isPlain = status === 200;
  return {
    ...front,
    plain: isPlain ? front.plain : undefined,
    plainEcho: isPlain ? echo.plainEcho : undefined,
    secureEcho: echo.secureEcho,
  };
}

/** The header that carries the session. */
async function logIn({ certificate }: FrontMaker, door: Door): Promise<{ readonly cookie: string }> {
  const deadlineMs = performance.now() + LOGIN_DEADLINE_MS;
  for (;;) {
    const browser = new BrowserWalk(certificate.ca);
    const { status, at } = await browser.open(`https://${door.host}:${door.port}/small`);
    const session = browser.cookie(door.host, SESSION_COOKIE);
    if (session !== undefined) return { cookie: `${SESSION_COOKIE}=${session}` };
    const what = `the log-in at ${door.host} ended with ${status} of ${at}`;
    if (performance.now() > deadlineMs) throw new Error(what);
    await pause(RETRY_MS);
  }
}
