/** The routes of the console's own pages, on the Management API's listener. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FrontdoorError, type Log } from '#base';
import type { ConsoleApp } from './app/console-app.ts';
import type { ConsoleRouteContext } from '../shares/operations/mod.ts';
import { addAppRoutes } from './app-routes.ts';
import type { ConsoleLogIn } from './console-log-in.ts';
import {
  foreignOrigin,
  isFromOwnPage,
  keepsCookies,
  ownOriginOf,
  type OwnAddress,
} from './console-origin.ts';
import { problemPage } from './console-pages.ts';
import type { ConsoleClient, ConsoleSessions } from './console-sessions.ts';
import { addLogInRoutes } from './log-in-routes.ts';
import {
  begin,
  Misdirected,
  pageOfError,
  sendPage,
  Unencrypted,
  type PageSender,
  type SendPage,
} from './page-answer.ts';
import type { PasswordChange } from './password-change.ts';
import { addPasswordRoutes } from './password-routes.ts';
import type { PersonRouteParts } from './person-route-parts.ts';
import type { ProviderLogIn } from './provider-log-in.ts';
import { addProviderRoutes } from './provider-routes.ts';
import type { SecondFactorLogIn } from './second-factor-log-in.ts';
import { addSecondFactorRoutes } from './second-factor-routes.ts';
import type { SignInTest } from './sign-in-test.ts';
import { addSignInTestRoutes } from './sign-in-test-routes.ts';
import { addWelcomeRoutes } from './welcome-routes.ts';

export interface ConsoleRouteParts {
  readonly sessions: ConsoleSessions;
  readonly logIn: ConsoleLogIn;
  readonly secondFactor: SecondFactorLogIn;
  readonly passwordChange: PasswordChange;
  readonly providerLogIn: ProviderLogIn | undefined;
  readonly signInTest: SignInTest | undefined;
  readonly app: ConsoleApp;
  readonly own: () => OwnAddress;
  /** The name and logo of an organization, or of the oldest one. */
  readonly lookOf: PageSender['lookOf'];
  readonly log: Log;
}

const MAX_BROWSER_CHARS = 200;
const MAX_FIELDS = 10;

export function addConsoleRoutes(
  app: FastifyInstance,
  parts: ConsoleRouteParts,
  context: ConsoleRouteContext,
): void {
  const base = `${context.pathPrefix}/console`;
  void app.register(
    async (pages) => {
      const sender: PageSender = { base, lookOf: parts.lookOf, log: parts.log };
      const send: SendPage = (reply, page, request) => sendPage(sender, reply, page, request);
      addPageSteps(pages, parts, base, send);
      addPages(pages, parts, context, { base, send });
    },
    { prefix: base },
  );
}

/** What precedes every page, and what answers instead of one. */
function addPageSteps(
  pages: FastifyInstance,
  { own, log }: ConsoleRouteParts,
  base: string,
  send: SendPage,
): void {
  pages.addHook('onRequest', async (request, reply) => {
    // Redirects, too, which have the cookie of a session.
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    const origin = ownOriginOf(request.raw, own());
    if (origin === undefined) throw new Misdirected();
    if (request.method !== 'GET' && request.method !== 'HEAD' && !isFromOwnPage(request.raw, origin))
      throw foreignOrigin(request.raw, origin);
    if (!keepsCookies(origin)) throw new Unencrypted();
  });
  pages.setErrorHandler((error, request, reply) => send(reply, pageOfError(error, log), request));
  pages.setNotFoundHandler((request, reply) => {
    const page = problemPage(
      404,
      ({ notFound }) => notFound,
      ({ noPage }) => noPage,
      base,
    );
    return send(reply, page, request);
  });
}

function addPages(
  pages: FastifyInstance,
  parts: ConsoleRouteParts,
  context: ConsoleRouteContext,
  { base, send }: { readonly base: string; readonly send: SendPage },
): void {
  const { sessions, logIn, secondFactor, passwordChange, providerLogIn } = parts;
  const common = {
    sessions,
    base,
    clientOf,
    fieldsOf: (request: FastifyRequest, reply: FastifyReply) => fieldsOf(context, request, reply),
    ownPathOf: (path: unknown) => ownPathOf(path, base),
    sendPage: send,
  };
  const person: PersonRouteParts = {
    ...common,
    logIn,
    endOf,
    offersOf: async (organizationId) => (await providerLogIn?.offers(organizationId)) ?? [],
    begin: (reply, begun, to = base) => begin(reply, base, begun, to),
  };
  addAppRoutes(pages, { ...common, app: parts.app, secondFactor, baseUrl: () => parts.own().baseUrl });
  addLogInRoutes(pages, person);
  addSecondFactorRoutes(pages, { ...common, secondFactor });
  addPasswordRoutes(pages, { ...person, passwordChange });
  if (providerLogIn !== undefined) {
    const consoleUrl = () => `${parts.own().baseUrl}/console`;
    addProviderRoutes(pages, { ...common, providerLogIn, consoleUrl });
  }
  if (parts.signInTest !== undefined) {
    const { signInTest, own } = parts;
    addSignInTestRoutes(pages, { ...common, signInTest, own, callbackUrls: context.callbackUrls });
  }
  addWelcomeRoutes(pages, person);
}

async function fieldsOf(
  context: ConsoleRouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ReadonlyMap<string, string>> {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new FrontdoorError('unsupportedType', 'unsupported-media-type', 'Send the form of the page');
  const body = await context.readBody(request, reply);
  // The form may have to wait for the hash of a password.
  reply.raw.once('close', context.hold(request.raw));
  const fields = [...new URLSearchParams(body.toString('utf8'))].slice(0, MAX_FIELDS);
  return new Map(fields);
}

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

/** Returns a signal that is aborted when the answer is done, or nobody waits for it. */
function endOf({ raw }: FastifyReply): AbortSignal {
  const end = new AbortController();
  raw.once('close', () => end.abort());
  return end.signal;
}
