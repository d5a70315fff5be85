/** The routes of the console's own pages, on the Management API's listener. */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FrontdoorError, type Log } from '#base';
import { isUuid, parseName } from '#domain';
import type { ConsoleApp } from '../console-app/mod.ts';
import type { ConsoleRouteContext } from '../management-api/mod.ts';
import { addAppRoutes } from './app-routes.ts';
import { ENDED_COOKIE, sessionCookie, stepCookie } from './console-cookie.ts';
import type { Begun, ConsoleLogIn } from './console-log-in.ts';
import {
  foreignOrigin,
  isFromOwnPage,
  keepsCookies,
  ownOriginOf,
  type OwnAddress,
} from './console-origin.ts';
import {
  accountPage,
  codePage,
  cookieLostPage,
  documentOf,
  logInPage,
  problemPage,
  unencryptedPage,
  WELCOME_SCRIPT,
  type ConsolePage,
} from './console-pages.ts';
import type { ConsoleClient, ConsoleSessions } from './console-sessions.ts';
import type { PasswordChange } from './password-change.ts';
import { addPasswordRoutes } from './password-routes.ts';
import { passwordProblem } from './password-rule.ts';
import type { ProviderLogIn, ProviderOffer } from './provider-log-in.ts';
import { addProviderRoutes } from './provider-routes.ts';
import type { SecondFactorLogIn } from './second-factor-log-in.ts';
import { addSecondFactorRoutes } from './second-factor-routes.ts';

export interface ConsoleRouteParts {
  readonly sessions: ConsoleSessions;
  readonly logIn: ConsoleLogIn;
  readonly secondFactor: SecondFactorLogIn;
  readonly passwordChange: PasswordChange;
  readonly providerLogIn: ProviderLogIn | undefined;
  readonly app: ConsoleApp;
  readonly own: () => OwnAddress;
  readonly log: Log;
}

const MAX_BROWSER_CHARS = 200;
const MAX_FIELDS = 10;
const NONCE_BYTES = 18;
const EMAIL = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;
const MAX_EMAIL_CHARS = 254;
const WRONG =
  'The e-mail address or the password is wrong. After ten wrong passwords in a row, each is refused for a quarter of an hour.';

export function addConsoleRoutes(
  app: FastifyInstance,
  parts: ConsoleRouteParts,
  context: ConsoleRouteContext,
): void {
  const { sessions, logIn, secondFactor, passwordChange, providerLogIn, log } = parts;
  const base = `${context.pathPrefix}/console`;
  const home = base;

  const fieldsOf = async (
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<ReadonlyMap<string, string>> => {
    const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
    if (type !== 'application/x-www-form-urlencoded')
      throw new FrontdoorError('unsupportedType', 'unsupported-media-type', 'Send the form of the page');
    const body = await context.readBody(request, reply);
    // The form may have to wait for the hash of a password.
    reply.raw.once('close', context.hold(request.raw));
    const fields = [...new URLSearchParams(body.toString('utf8'))].slice(0, MAX_FIELDS);
    return new Map(fields);
  };

  const organizationOf = (asked: unknown): string | undefined =>
    typeof asked === 'string' && isUuid(asked) ? asked.toLowerCase() : undefined;
  const offersOf = async (organizationId: string | undefined): Promise<readonly ProviderOffer[]> =>
    (await providerLogIn?.offers(organizationId)) ?? [];

  void app.register(
    async (pages) => {
      pages.addHook('onRequest', async (request, reply) => {
        // Redirects, too, which have the cookie of a session.
        reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
        const origin = ownOriginOf(request.raw, parts.own());
        if (origin === undefined) throw new Misdirected();
        if (request.method !== 'GET' && request.method !== 'HEAD' && !isFromOwnPage(request.raw, origin))
          throw foreignOrigin(request.raw, origin);
        if (!keepsCookies(origin)) throw new Unencrypted();
      });
      pages.setErrorHandler((error, request, reply) =>
        sendPage(reply, base, pageOfError(error, log), request),
      );
      pages.setNotFoundHandler((request, reply) => {
        const page = problemPage(404, 'Not found', 'There is no page at this address.', base);
        return sendPage(reply, base, page, request);
      });

      addAppRoutes(pages, {
        ...{ app: parts.app, sessions, secondFactor, base },
        sendPage: (reply, page, request) => sendPage(reply, base, page, request),
      });

      pages.get('/log-in', async (request, reply) => {
        const { to, organization } = request.query as { to?: unknown; organization?: unknown };
        const organizationId = organizationOf(organization);
        const offers = await offersOf(organizationId);
        const page = logInPage(base, { to: ownPathOf(to, home), offers, organizationId });
        return sendPage(reply, base, page, request);
      });

      pages.post('/log-in', async (request, reply) => {
        const fields = await fieldsOf(request, reply);
        const [name, password] = [(fields.get('name') ?? '').trim(), fields.get('password') ?? ''];
        const to = ownPathOf(fields.get('to'), home);
        const organizationId = organizationOf(fields.get('organization'));
        const earlier = await sessions.find(request.raw);
        const client = { ...clientOf(request), signal: endOf(reply) };
        const result = await logIn.logIn({ name, password, organizationId }, client, earlier);
        if (!('problem' in result)) return begin(reply, base, result, to);
        if (result.problem === 'wrong')
          return sendPage(
            reply,
            base,
            logInPage(
              base,
              { to, name, problem: WRONG, offers: await offersOf(organizationId), organizationId },
              403,
            ),
            request,
          );
        const seconds = Math.ceil(result.afterMs / 1_000);
        const problem = `There were too many wrong passwords, or too many log in at once. Try again in ${seconds} s.`;
        reply.header('retry-after', seconds);
        return sendPage(reply, base, logInPage(base, { to, name, problem, organizationId }, 429), request);
      });

      addSecondFactorRoutes(pages, {
        ...{ secondFactor, sessions, base, clientOf, fieldsOf },
        ownPathOf: (path) => ownPathOf(path, home),
        sendPage: (reply, page, request) => sendPage(reply, base, page, request),
      });

      addPasswordRoutes(pages, {
        ...{ passwordChange, sessions, base, clientOf, endOf, fieldsOf },
        begin: (reply, begun) => begin(reply, base, begun, home),
        sendPage: (reply, page, request) => sendPage(reply, base, page, request),
      });

      if (providerLogIn !== undefined) {
        addProviderRoutes(pages, {
          ...{ providerLogIn, sessions, base, clientOf, fieldsOf },
          consoleUrl: () => `${parts.own().baseUrl}/console`,
          ownPathOf: (path) => ownPathOf(path, home),
          sendPage: (reply, page, request) => sendPage(reply, base, page, request),
        });
      }

      pages.get('/logged-in', async (request, reply) => {
        const { to } = request.query as { to?: unknown };
        if ((await sessions.find(request.raw)) !== undefined) return reply.redirect(ownPathOf(to, home), 303);
        return sendPage(reply, base, cookieLostPage(base), request);
      });

      pages.post('/log-out', async (request, reply) => {
        const session = await sessions.find(request.raw);
        if (session !== undefined) await sessions.end(session, request.ip);
        reply.header('set-cookie', ENDED_COOKIE).header('clear-site-data', '"cache", "storage"');
        return reply.redirect(`${base}/log-in`, 303);
      });

      pages.get('/welcome', (request, reply) => sendPage(reply, base, codePage(base), request));

      pages.get('/welcome.js', (_request, reply) =>
        reply
          .header('cache-control', 'no-cache')
          .header('x-content-type-options', 'nosniff')
          .type('text/javascript; charset=utf-8')
          .send(WELCOME_SCRIPT),
      );

      pages.post('/welcome', async (request, reply) => {
        const fields = await fieldsOf(request, reply);
        const code = (fields.get('code') ?? '').trim();
        const invitation = await logIn.invitationOf(code, clientOf(request));
        if (invitation === undefined) {
          const problem = 'The code is wrong, was used already, or has expired. Ask for a new link.';
          return sendPage(reply, base, codePage(base, problem, 403), request);
        }
        const offers = await offersOf(invitation.organizationId);
        if (!fields.has('password')) {
          const form = { code, name: invitation.name, email: invitation.email ?? '', offers };
          return sendPage(reply, base, accountPage(base, invitation, form), request);
        }
        const [email, password] = [(fields.get('email') ?? '').trim(), fields.get('password')!];
        const name = parseName(fields.get('name') ?? '');
        const form = { code, name: name ?? '', email, offers };
        const again = (problem: string, status: number) =>
          sendPage(reply, base, accountPage(base, invitation, { ...form, problem }, status), request);
        if (name === undefined) return again('The name is missing, or too long.', 400);
        if (!EMAIL.test(email) || email.length > MAX_EMAIL_CHARS)
          return again('This is not an e-mail address.', 400);
        const problem = passwordProblem(password, [name, email]);
        if (problem !== undefined) return again(problem, 400);
        const earlier = await sessions.find(request.raw);
        let begun: Begun | undefined;
        try {
          begun = await logIn.accept(code, { name, email, password }, clientOf(request), earlier);
        } catch (error) {
          if (!(error instanceof FrontdoorError)) throw error;
          if (error.kind === 'limited') return again('Too many log in at the moment. Try again.', 429);
          if (error.kind !== 'conflict') throw error;
          return again('Another person of the organization has this e-mail address.', 409);
        }
        if (begun !== undefined) return begin(reply, base, begun, home);
        return sendPage(reply, base, codePage(base, 'The code was used a moment ago.', 403), request);
      });
    },
    { prefix: base },
  );
}

/** The request names a host that is not the console's: it was meant for another server (RFC 9110 §15.5.20). */
class Misdirected extends Error {}

/** Browsers keep no session of the console's address. Nobody is asked for a password there. */
class Unencrypted extends Error {}

/** Returns the path if it leads to the console itself, and else the path of the console. */
export function ownPathOf(path: unknown, home: string): string {
  if (typeof path !== 'string' || path.length > 2_048 || !path.startsWith('/')) return home;
  const url = URL.parse(path, 'http://console.invalid');
  if (url === null || url.origin !== 'http://console.invalid') return home;
  return url.pathname === home || url.pathname.startsWith(`${home}/`) ? url.pathname + url.search : home;
}

function clientOf({ ip, headers }: FastifyRequest): ConsoleClient {
  return { address: ip, browser: (headers['user-agent'] ?? '').slice(0, MAX_BROWSER_CHARS) };
}

/** Returns a signal that is aborted when the answer is done, or nobody waits for it any more. */
function endOf({ raw }: FastifyReply): AbortSignal {
  const end = new AbortController();
  raw.once('close', () => end.abort());
  return end.signal;
}

/** Sends the cookie. The next page sees whether the browser kept it. */
function begin(reply: FastifyReply, base: string, begun: Begun, to: string): FastifyReply {
  const [cookie, next] =
    'token' in begun
      ? [sessionCookie(begun.token), 'logged-in']
      : [stepCookie(begun.sealed), 'log-in/second-factor'];
  return reply.header('set-cookie', cookie).redirect(`${base}/${next}?to=${encodeURIComponent(to)}`, 303);
}

function pageOfError(error: unknown, log: Log): ConsolePage {
  if (error instanceof Misdirected)
    return problemPage(
      421,
      'Another address',
      'The console does not answer under this name. Use the address that the control plane printed. To serve it behind a proxy ' +
        'under this name, start the control plane with --public-api-url and the address that browsers show.',
    );
  if (error instanceof Unencrypted) return unencryptedPage();
  if (error instanceof FrontdoorError && error.kind !== 'internal') {
    if (error.kind === 'unavailable')
      return problemPage(
        503,
        'Not available',
        'The console is not available at the moment. Try again in a minute.',
      );
    return problemPage(error.status, 'This did not work', `${error.message}.`);
  }
  const errorId = randomBytes(8).toString('hex');
  log.error(
    { errorId, cause: error instanceof Error ? error.stack : String(error) },
    'a page of the console failed',
  );
  return problemPage(500, 'Internal error', `This is a fault of the console. Its error id is ${errorId}.`);
}

function sendPage(
  reply: FastifyReply,
  base: string,
  page: ConsolePage,
  request: FastifyRequest,
): FastifyReply {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  const scripts = page.takesCode === true ? `script-src 'self'; ` : '';
  const pictures = page.showsPicture === true ? `img-src data:; ` : '';
  const policy =
    `default-src 'none'; ${scripts}${pictures}style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; ` +
    `frame-ancestors 'none'`;
  return reply
    .code(page.status)
    .header('content-security-policy', policy)
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cross-origin-resource-policy', 'same-origin')
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(request.method === 'HEAD' ? '' : documentOf(page, base, nonce));
}
