/** The routes on which people replace their password. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sessionCookie } from './console-cookie.ts';
import type { Begun } from './console-log-in.ts';
import { problemPage } from './console-pages.ts';
import type { ConsoleClient } from './console-sessions.ts';
import { freshSession, type FreshSessionParts } from './fresh-session.ts';
import type { Said } from './english-page-text.ts';
import type { PasswordChange, PasswordChanged } from './password-change.ts';
import { newPasswordPage, passwordCodePage, passwordPage } from './password-pages.ts';

export interface PasswordRouteParts extends FreshSessionParts {
  readonly passwordChange: PasswordChange;
  readonly clientOf: (request: FastifyRequest) => ConsoleClient;
  /** Aborted when nobody waits for the answer. */
  readonly endOf: (reply: FastifyReply) => AbortSignal;
  readonly fieldsOf: (request: FastifyRequest, reply: FastifyReply) => Promise<ReadonlyMap<string, string>>;
  /** Answers with the cookie of what has begun. */
  readonly begin: (reply: FastifyReply, begun: Begun) => FastifyReply;
}

const UNKNOWN: Said = ({ unknownCode }) => unknownCode;

export function addPasswordRoutes(pages: FastifyInstance, parts: PasswordRouteParts): void {
  const { passwordChange, sessions, base, clientOf, endOf, fieldsOf, sendPage, begin } = parts;

  /** Returns what is wrong, with the status of the answer. */
  const refusalOf = (
    refused: Exclude<PasswordChanged, { readonly token: unknown }>,
    reply: FastifyReply,
  ): { readonly problem: Said; readonly status: number } => {
    if (refused.problem === 'unfit')
      return { problem: ({ passwordProblems }) => passwordProblems[refused.why], status: 400 };
    if (refused.problem === 'wrong')
      return { problem: ({ wrongCurrentPassword }) => wrongCurrentPassword, status: 403 };
    const seconds = Math.ceil(refused.afterMs / 1_000);
    reply.header('retry-after', seconds);
    return { problem: ({ tooManyWaiting }) => tooManyWaiting(seconds), status: 429 };
  };

  /** Returns the session with the e-mail address of its password. Without these it answers, and returns undefined. */
  const owned = async (request: FastifyRequest, reply: FastifyReply) => {
    const session = await freshSession(parts, request, reply, `${base}/password`);
    if (session === undefined) return undefined;
    const email = await passwordChange.emailOf(session.owner);
    if (email !== undefined) return { session, email };
    const title: Said = ({ didNotWork }) => didNotWork;
    await sendPage(
      reply,
      problemPage(409, title, ({ noPassword }) => noPassword, base),
      request,
    );
    return undefined;
  };

  pages.get('/password', async (request, reply) => {
    const own = await owned(request, reply);
    if (own === undefined) return reply;
    return sendPage(
      reply,
      passwordPage({ base, email: own.email, organizationId: own.session.owner.organizationId }),
      request,
    );
  });

  pages.post('/password', async (request, reply) => {
    const own = await owned(request, reply);
    if (own === undefined) return reply;
    const { session, email } = own;
    const { organizationId } = session.owner;
    const fields = await fieldsOf(request, reply);
    const typed = { current: fields.get('current') ?? '', password: fields.get('password') ?? '' };
    const client = { ...clientOf(request), signal: endOf(reply) };
    const changed = await passwordChange.change(session, email, typed, client);
    if ('problem' in changed)
      return sendPage(
        reply,
        passwordPage({ base, email, organizationId, ...refusalOf(changed, reply) }),
        request,
      );
    if (changed.token !== undefined) reply.header('set-cookie', sessionCookie(changed.token));
    return reply.redirect(`${base}/account`, 303);
  });

  pages.get('/new-password', (request, reply) => sendPage(reply, passwordCodePage(base), request));

  pages.post('/new-password', async (request, reply) => {
    const fields = await fieldsOf(request, reply);
    const code = (fields.get('code') ?? '').trim();
    const client = clientOf(request);
    const linked = await passwordChange.linkOf(code, client);
    if (linked === undefined) return sendPage(reply, passwordCodePage(base, UNKNOWN, 403), request);
    const form = { base, email: linked.email };
    const password = fields.get('password');
    if (password === undefined) return sendPage(reply, newPasswordPage(form, code), request);
    const earlier = await sessions.find(request.raw);
    const used = await passwordChange.useLink(linked, { code, password }, client, earlier);
    if (!('problem' in used)) return begin(reply, used);
    if (used.problem === 'unknown') return sendPage(reply, passwordCodePage(base, UNKNOWN, 403), request);
    return sendPage(reply, newPasswordPage({ ...form, ...refusalOf(used, reply) }, code), request);
  });
}
