/**
 * Shares behind a log-in: a session made by a real walk through a real OpenID provider, as a browser would. The cookie is
 * then what every request of the load carries.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { DEFAULT_CLIENT, startIdentityProvider } from '../../support/identity-provider.ts';
import { SESSION_COOKIE, Visitor } from '../../support/visitor.ts';
import { until } from '../../support/child-process.ts';
import { get, untilAnswers, type Door } from '../check-client.ts';
import type { Front } from './bench-front.ts';
import { frontOf, makeShare, type FrontMaker } from './guarded-shares.ts';

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
  await makeShare(maker, share, [provider['id']]);
  const asked = frontOf(maker, displayName, share);
  await untilAnswers(asked.secure, { status: 401 });
  const front = frontOf(maker, displayName, share, await logIn(maker, asked.secure));
  await untilAnswers(front.secure);
  const { status } = await get(front.plain, '/small');
  return status === 200 ? front : { ...front, plain: undefined };
}

/** The header that carries the session. */
async function logIn(maker: FrontMaker, { host }: Door): Promise<{ readonly cookie: string }> {
  const { certificate, product, securePort } = maker;
  const visitor = new Visitor({ ca: certificate.ca, plainPort: product.port, securePort });
  return until(`a log-in at ${host}`, LOGIN_DEADLINE_MS, async () => {
    const answer = await visitor.logIn(host, '/small', PERSON.sub).catch((error: Error) => error);
    const session = visitor.cookie(host);
    if (session !== undefined) return { cookie: `${SESSION_COOKIE}=${session}` };
    await pause(RETRY_MS);
    throw answer instanceof Error ? answer : new Error(`it ended with ${answer.status}`);
  });
}
