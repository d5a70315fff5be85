/** The routes of log-ins at the console through an identity provider. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LoginRefusalReason } from '#domain/gateway-shapes';
import { ATTEMPT_COOKIE_ENDED, attemptCookie, attemptOf, sessionCookie } from './console-cookie.ts';
import { continuePage, leadOnPage, problemPage } from './console-pages.ts';
import type { ConsoleClient, ConsoleSessions } from './console-sessions.ts';
import type { SendPage } from './page-answer.ts';
import type { Said } from './english-page-text.ts';
import type { ProviderLogIn } from './provider-log-in.ts';

export interface ProviderRouteParts {
  readonly providerLogIn: ProviderLogIn;
  readonly sessions: ConsoleSessions;
  readonly base: string;
  /** The address of the console as {base_url} has it, which identity providers know. */
  readonly consoleUrl: () => string;
  readonly ownPathOf: (path: unknown) => string;
  readonly clientOf: (request: FastifyRequest) => ConsoleClient;
  readonly fieldsOf: (request: FastifyRequest, reply: FastifyReply) => Promise<ReadonlyMap<string, string>>;
  readonly sendPage: SendPage;
}

export function addProviderRoutes(pages: FastifyInstance, parts: ProviderRouteParts): void {
  const { providerLogIn, sessions, base, consoleUrl, ownPathOf, clientOf, fieldsOf, sendPage } = parts;
  const refuse = (reply: FastifyReply, request: FastifyRequest, sentence: Said) =>
    sendPage(
      reply,
      problemPage(403, ({ notSignedIn }) => notSignedIn, sentence, `${base}/log-in`),
      request,
    );
  const refused =
    (reason: LoginRefusalReason): Said =>
    ({ providerRefusals }) =>
      providerRefusals[reason];

  pages.get('/log-in/with/:providerId', async (request, reply) => {
    const { providerId } = request.params as { providerId: string };
    const { to } = request.query as { to?: unknown };
    const begun = await providerLogIn.begin(
      providerId,
      `${consoleUrl()}/callback/${providerId}`,
      ownPathOf(to),
      await sessions.find(request.raw),
    );
    if ('type' in begun) return refuse(reply, request, refused(begun.reason));
    return reply.header('set-cookie', attemptCookie(begun.sealed)).redirect(begun.url, 303);
  });

  // An invited person uses an account of the provider instead of a password.
  pages.post('/welcome/with/:providerId', async (request, reply) => {
    const { providerId } = request.params as { providerId: string };
    const code = ((await fieldsOf(request, reply)).get('code') ?? '').trim();
    if (!(await providerLogIn.isInvited(providerId, code)))
      return refuse(reply, request, ({ unknownInvitation }) => unknownInvitation);
    const callbackUrl = `${consoleUrl()}/callback/${providerId}`;
    const earlier = await sessions.find(request.raw);
    const begun = await providerLogIn.begin(providerId, callbackUrl, base, earlier, code);
    if ('type' in begun) return refuse(reply, request, refused(begun.reason));
    reply.header('set-cookie', attemptCookie(begun.sealed));
    return sendPage(reply, leadOnPage(begun.url), request);
  });

  pages.get('/callback/:providerId', async (request, reply) => {
    const { providerId } = request.params as { providerId: string };
    const { search } = new URL(request.url, consoleUrl());
    const url = new URL(`${consoleUrl()}/callback/${providerId}${search}`);
    const sealed = attemptOf(request.raw) ?? '';
    const earlier = await sessions.find(request.raw);
    const result = await providerLogIn.finish(providerId, url, sealed, clientOf(request), earlier);
    reply.header('set-cookie', ATTEMPT_COOKIE_ENDED);
    if (!('type' in result)) {
      // A browser does not send a cookie of this kind with a redirect that another site began.
      reply.header('set-cookie', sessionCookie(result.token));
      const to = `${base}/logged-in?to=${encodeURIComponent(result.to)}`;
      return sendPage(reply, continuePage(to), request);
    }
    if (result.type === 'uninvited')
      return refuse(reply, request, ({ unknownInvitation }) => unknownInvitation);
    if (result.type === 'crowded') return refuse(reply, request, ({ crowded }) => crowded);
    return refuse(reply, request, refused(result.reason));
  });
}
