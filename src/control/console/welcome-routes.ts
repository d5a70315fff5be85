/** The routes on which an invited person makes an account. */
import type { FastifyInstance } from 'fastify';
import { FrontdoorError } from '#base';
import { parseName } from '#domain';
import type { Begun } from './console-log-in.ts';
import { accountPage, codePage } from './console-pages.ts';
import { PAGE_SCRIPT } from './page-document.ts';
import type { Said } from './english-page-text.ts';
import { passwordProblem } from './password-rule.ts';
import type { PersonRouteParts } from './person-route-parts.ts';

const EMAIL = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;
const MAX_EMAIL_CHARS = 254;

export function addWelcomeRoutes(pages: FastifyInstance, parts: PersonRouteParts): void {
  const { logIn, sessions, base, offersOf, sendPage, begin, clientOf, fieldsOf } = parts;

  pages.get('/welcome', (request, reply) => sendPage(reply, codePage(base), request));

  pages.get('/page.js', (_request, reply) =>
    reply
      .header('cache-control', 'no-cache')
      .header('x-content-type-options', 'nosniff')
      .header('cross-origin-resource-policy', 'same-origin')
      .type('text/javascript; charset=utf-8')
      .send(PAGE_SCRIPT),
  );

  pages.post('/welcome', async (request, reply) => {
    const fields = await fieldsOf(request, reply);
    const code = (fields.get('code') ?? '').trim();
    const invitation = await logIn.invitationOf(code, clientOf(request));
    if (invitation === undefined)
      return sendPage(
        reply,
        codePage(base, ({ unknownCode }) => unknownCode, 403),
        request,
      );
    const [offers, organizationName] = await Promise.all([
      offersOf(invitation.organizationId),
      logIn.organizationNameOf(invitation.organizationId),
    ]);
    if (!fields.has('password')) {
      const form = { code, name: invitation.name, email: invitation.email ?? '', offers, organizationName };
      return sendPage(reply, accountPage(base, invitation, form), request);
    }
    const [email, password] = [(fields.get('email') ?? '').trim(), fields.get('password')!];
    const name = parseName(fields.get('name') ?? '');
    const form = { code, name: name ?? '', email, offers, organizationName };
    const again = (problem: Said, status: number) =>
      sendPage(reply, accountPage(base, invitation, { ...form, problem }, status), request);
    if (name === undefined) return again(({ nameInvalid }) => nameInvalid, 400);
    if (!EMAIL.test(email) || email.length > MAX_EMAIL_CHARS)
      return again(({ emailInvalid }) => emailInvalid, 400);
    const problem = passwordProblem(password, [name, email]);
    if (problem !== undefined) return again(({ passwordProblems }) => passwordProblems[problem], 400);
    const earlier = await sessions.find(request.raw);
    let begun: Begun | undefined;
    try {
      begun = await logIn.accept(code, { name, email, password }, clientOf(request), earlier);
    } catch (error) {
      if (!(error instanceof FrontdoorError)) throw error;
      if (error.kind === 'limited') return again(({ tooManySignIns }) => tooManySignIns, 429);
      if (error.kind !== 'conflict') throw error;
      return again(({ emailTaken }) => emailTaken, 409);
    }
    if (begun !== undefined) return begin(reply, begun);
    return sendPage(
      reply,
      codePage(base, ({ usedCode }) => usedCode, 403),
      request,
    );
  });
}
