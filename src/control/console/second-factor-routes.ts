/** The routes of a log-in's second factor, and of its enrollment. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { qrPictureOf } from '../credentials/totp/mod.ts';
import { STEP_COOKIE_ENDED, sessionCookie, stepCookie, stepOf } from './console-cookie.ts';
import { problemPage } from './console-pages.ts';
import type { ConsoleClient } from './console-sessions.ts';
import { freshSession, type FreshSessionParts } from './fresh-session.ts';
import type { ConsolePage } from './page-document.ts';
import type { Said } from './english-page-text.ts';
import type { LogInStep, SecondFactorLogIn } from './second-factor-log-in.ts';
import { enrollmentPage, factorCodePage, recoveryCodesPage, type FactorForm } from './second-factor-pages.ts';

export interface SecondFactorRouteParts extends FreshSessionParts {
  readonly secondFactor: SecondFactorLogIn;
  readonly ownPathOf: (path: unknown) => string;
  readonly clientOf: (request: FastifyRequest) => ConsoleClient;
  readonly fieldsOf: (request: FastifyRequest, reply: FastifyReply) => Promise<ReadonlyMap<string, string>>;
}

const PATH = '/log-in/second-factor';
const notSignedIn: Said = (text) => text.notSignedIn;
const didNotWork: Said = (text) => text.didNotWork;
const WRONG: Said = ({ wrongFactor }) => wrongFactor;

export function addSecondFactorRoutes(pages: FastifyInstance, parts: SecondFactorRouteParts): void {
  const { secondFactor, sessions, base, ownPathOf, clientOf, fieldsOf, sendPage } = parts;

  /** There is no way back to the log-in by itself: a browser that keeps no cookie would go round in circles. */
  const over = (reply: FastifyReply, request: FastifyRequest): Promise<FastifyReply> => {
    reply.header('set-cookie', STEP_COOKIE_ENDED);
    return sendPage(
      reply,
      problemPage(403, notSignedIn, ({ stepOver }) => stepOver, `${base}/log-in`),
      request,
    );
  };
  const pageOf = ({ url }: LogInStep, form: FactorForm, asksRecovery: boolean): ConsolePage => {
    if (url === null) return factorCodePage(form, asksRecovery);
    const png = Buffer.from(qrPictureOf(url)).toString('base64');
    return enrollmentPage(form, { url, picture: `data:image/png;base64,${png}` });
  };

  pages.get(PATH, (request, reply) => {
    const { to, recovery } = request.query as { to?: unknown; recovery?: unknown };
    const step = secondFactor.stepOf(stepOf(request.raw));
    if (step === undefined) return over(reply, request);
    const page = pageOf(step, { base, to: ownPathOf(to) }, recovery !== undefined);
    return sendPage(reply, page, request);
  });

  pages.post(PATH, async (request, reply) => {
    const fields = await fieldsOf(request, reply);
    const to = ownPathOf(fields.get('to'));
    const step = secondFactor.stepOf(stepOf(request.raw));
    if (step === undefined) return over(reply, request);
    const code = fields.get('code') ?? '';
    const earlier = await sessions.find(request.raw);
    const client = clientOf(request);
    const result = await secondFactor.prove(step, code, client, earlier);
    if ('token' in result) {
      reply.header('set-cookie', STEP_COOKIE_ENDED).header('set-cookie', sessionCookie(result.token));
      if (result.recoveryCodes === undefined)
        return reply.redirect(`${base}/logged-in?to=${encodeURIComponent(to)}`, 303);
      return sendPage(reply, recoveryCodesPage(base, to, result.recoveryCodes), request);
    }
    if (result.reason === 'none') return over(reply, request);
    if (!('afterMs' in result)) {
      const form = { base, to, problem: WRONG, status: 403 };
      return sendPage(reply, pageOf(step, form, fields.has('recovery')), request);
    }
    const seconds = Math.ceil(result.afterMs / 1_000);
    const problem: Said = ({ tooManyCodes }) => tooManyCodes(seconds);
    reply.header('retry-after', seconds);
    const form = { base, to, problem, status: 429 };
    return sendPage(reply, pageOf(step, form, fields.has('recovery')), request);
  });

  const account = `${base}/account`;
  const noPassword = (reply: FastifyReply, request: FastifyRequest): Promise<FastifyReply> =>
    sendPage(
      reply,
      problemPage(409, didNotWork, ({ onlyWithPassword }) => onlyWithPassword, base),
      request,
    );

  pages.post('/second-factor', async (request, reply) => {
    const session = await freshSession(parts, request, reply, account);
    if (session === undefined) return reply;
    const begun = await secondFactor.enrollAgain(session.owner);
    if (begun === undefined) return noPassword(reply, request);
    return reply.header('set-cookie', stepCookie(begun.sealed)).redirect(`${base}${PATH}`, 303);
  });

  pages.post('/second-factor/recovery-codes', async (request, reply) => {
    const session = await freshSession(parts, request, reply, account);
    if (session === undefined) return reply;
    const codes = await secondFactor.renewRecovery(session.owner, clientOf(request));
    if (codes === undefined) return noPassword(reply, request);
    return sendPage(reply, recoveryCodesPage(base, account, codes), request);
  });
}
