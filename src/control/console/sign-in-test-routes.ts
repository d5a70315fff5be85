/**
 * The routes of test sign-ins, in a window of their own: to the provider, back from it, and the result. The provider's redirect
 * does not bring the cookie of the session, so that a page of the console leads on to the result.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SIGN_IN_TEST_MS } from '../shares/logins/mod.ts';
import type { ConsoleRouteContext } from '../shares/operations/mod.ts';
import { SIGN_IN_TEST_COOKIE_ENDED, signInTestCookie, signInTestOf } from './console-cookie.ts';
import { ownOriginOf, type OwnAddress } from './console-origin.ts';
import { problemPage } from './console-pages.ts';
import type { ConsoleClient, ConsoleSessions } from './console-sessions.ts';
import type { SendPage } from './page-answer.ts';
import type { Said } from './english-page-text.ts';
import type { SignInTest, TestTarget } from './sign-in-test.ts';
import { backPage, testResultPage } from './sign-in-test-pages.ts';

export interface SignInTestRouteParts extends Pick<ConsoleRouteContext, 'callbackUrls'> {
  readonly signInTest: SignInTest;
  readonly sessions: ConsoleSessions;
  readonly base: string;
  readonly own: () => OwnAddress;
  readonly clientOf: (request: FastifyRequest) => ConsoleClient;
  readonly sendPage: SendPage;
}

export function addSignInTestRoutes(pages: FastifyInstance, parts: SignInTestRouteParts): void {
  const { signInTest, sessions, base, own, clientOf, sendPage, callbackUrls } = parts;
  const refuse = (reply: FastifyReply, request: FastifyRequest, status: number, sentence: Said) =>
    sendPage(
      reply,
      problemPage(status, ({ testSignIn }) => testSignIn, sentence),
      request,
    );

  pages.get('/sign-in-test/:frontdoorId/:providerId', async (request, reply) => {
    const session = await sessions.find(request.raw);
    if (session === undefined)
      return reply.redirect(`${base}/log-in?to=${encodeURIComponent(request.url)}`, 303);
    const { baseUrl } = own();
    if (ownOriginOf(request.raw, own()) !== new URL(baseUrl).origin)
      return refuse(reply, request, 409, ({ testOtherAddress }) => testOtherAddress(baseUrl));
    const target = request.params as TestTarget;
    const urls = await callbackUrls(session.owner.organizationId, target.frontdoorId, target.providerId);
    const { callback } = request.query as { callback?: unknown };
    const redirectUri = urls.find((url) => url === callback) ?? urls[0];
    if (redirectUri === undefined) return refuse(reply, request, 404, ({ testNoProvider }) => testNoProvider);
    const begun = await signInTest.begin(session, target, redirectUri, clientOf(request).address);
    if (begun === 'not-permitted')
      return refuse(reply, request, 403, ({ testNotPermitted }) => testNotPermitted);
    if (begun === 'not-found') return refuse(reply, request, 404, ({ testNoProvider }) => testNoProvider);
    if (!('url' in begun)) return sendPage(reply, testResultPage(begun, undefined), request);
    const cookie = signInTestCookie(begun.sealed, SIGN_IN_TEST_MS);
    return reply.header('set-cookie', cookie).redirect(begun.url, 303);
  });

  pages.get('/sign-in-test/return', (request, reply) =>
    sendPage(reply, backPage(`${base}/sign-in-test/result?${queryOf(request)}`), request),
  );

  pages.get('/sign-in-test/result', async (request, reply) => {
    const session = await sessions.find(request.raw);
    const sealed = signInTestOf(request.raw);
    reply.header('set-cookie', SIGN_IN_TEST_COOKIE_ENDED);
    if (session === undefined || sealed === undefined)
      return refuse(reply, request, 403, ({ testOver }) => testOver);
    const parameters = new URLSearchParams(queryOf(request));
    const finished = await signInTest.finish(session, sealed, parameters, clientOf(request).address);
    if (finished === 'too-many') return refuse(reply, request, 429, ({ testTooMany }) => testTooMany);
    if (finished === undefined) return refuse(reply, request, 403, ({ testOver }) => testOver);
    return sendPage(reply, testResultPage(finished.result, finished.role), request);
  });
}

function queryOf({ url }: FastifyRequest): string {
  const at = url.indexOf('?');
  return at === -1 ? '' : url.slice(at + 1);
}
