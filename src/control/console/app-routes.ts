/**
 * The routes of the browser program: its files, and its document at every address of the console that no other page has.
 * Files are the same for everyone and need no session; the document needs one with a role.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleApp } from './app/console-app.ts';
import { appDocument, appPolicy, codedBody, typeOf } from './app-document.ts';
import { accountHomePage, noConsolePage, noRolePage } from './app-pages.ts';
import { problemPage } from './console-pages.ts';
import type { ConsoleSessions } from './console-sessions.ts';
import type { SendPage } from './page-answer.ts';
import { languageOf, PAGE_TEXTS } from './page-text.ts';
import type { SecondFactorLogIn } from './second-factor-log-in.ts';
import { passwordOffer } from './second-factor-pages.ts';

export interface AppRouteParts {
  readonly app: ConsoleApp;
  readonly sessions: ConsoleSessions;
  readonly secondFactor: SecondFactorLogIn;
  readonly base: string;
  /** {base_url}. */
  readonly baseUrl: () => string;
  readonly sendPage: SendPage;
}

const NONCE_BYTES = 18;
const YEAR_S = 31_536_000;
const NO_PAGE = problemPage(
  404,
  ({ notFound }) => notFound,
  ({ noPage }) => noPage,
);

export function addAppRoutes(pages: FastifyInstance, parts: AppRouteParts): void {
  const { app, sessions, secondFactor, base, baseUrl, sendPage } = parts;
  const logIn = (reply: FastifyReply, { url }: FastifyRequest): FastifyReply => {
    const isHome = url === base || url === `${base}/`;
    const query = isHome ? '' : `?to=${encodeURIComponent(url)}`;
    return reply.header('cache-control', 'no-store').redirect(`${base}/log-in${query}`, 303);
  };

  // What `frontdoor dev console --watch` has built last: its pages ask for it.
  pages.get('/assets/watched', async (request, reply) => {
    const key = await app.watched();
    if (key === undefined) return sendPage(reply, NO_PAGE, request);
    return reply.header('cache-control', 'no-store').type('text/plain; charset=utf-8').send(key);
  });

  pages.get('/assets/:name', (request, reply) => {
    const { name } = request.params as { readonly name: string };
    const file = app.current?.files.get(name);
    if (file === undefined) return sendPage(reply, NO_PAGE, request);
    const { body, coding } = codedBody(file, request.headers['accept-encoding']);
    if (coding !== undefined) reply.header('content-encoding', coding);
    return reply
      .header('cache-control', `public, max-age=${YEAR_S}, immutable`)
      .header('vary', 'accept-encoding')
      .header('x-content-type-options', 'nosniff')
      .header('cross-origin-resource-policy', 'same-origin')
      .header('content-length', body.length)
      .type(typeOf(name))
      .send(body);
  });

  pages.get('/account', async (request, reply) => {
    const session = await sessions.find(request.raw);
    if (session === undefined) return logIn(reply, request);
    const offer = passwordOffer(base, await secondFactor.stateOf(session.owner));
    return sendPage(reply, accountHomePage(base, session, offer), request);
  });

  const answerDocument = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    // What an operation does not answer there is no page of the program.
    if (/^\/api(?:[/?]|$)/.test(request.url.slice(base.length))) return sendPage(reply, NO_PAGE, request);
    const session = await sessions.find(request.raw);
    if (session === undefined) return logIn(reply, request);
    if (session.scopes.length === 0) {
      const offer = passwordOffer(base, await secondFactor.stateOf(session.owner));
      return sendPage(reply, noRolePage(base, session, offer), request);
    }
    await app.watched();
    const built = app.current;
    if (built === undefined) return sendPage(reply, noConsolePage(), request);
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    const language = languageOf(request.raw);
    const text = PAGE_TEXTS[language];
    return reply
      .header('content-security-policy', appPolicy(nonce))
      .header('cross-origin-opener-policy', 'same-origin')
      .header('cross-origin-resource-policy', 'same-origin')
      .header('referrer-policy', 'no-referrer')
      .header('x-content-type-options', 'nosniff')
      .header('cache-control', 'no-store')
      .type('text/html; charset=utf-8')
      .send(
        request.method === 'HEAD'
          ? ''
          : appDocument(built, { base, nonce, baseUrl: baseUrl(), version: app.version, language, text }),
      );
  };
  pages.get('/', answerDocument);
  pages.get('/*', answerDocument);
}
