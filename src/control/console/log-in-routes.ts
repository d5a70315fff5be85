/** The routes on which people log in by password, and log out. */
import type { FastifyInstance } from 'fastify';
import { isUuid } from '#domain';
import { ENDED_COOKIE } from './console-cookie.ts';
import { cookieLostPage, logInPage } from './console-pages.ts';
import type { Said } from './english-page-text.ts';
import type { PersonRouteParts } from './person-route-parts.ts';

export function addLogInRoutes(pages: FastifyInstance, parts: PersonRouteParts): void {
  const { logIn, sessions, base, offersOf, sendPage, begin, ownPathOf } = parts;

  pages.get('/log-in', async (request, reply) => {
    const { to, organization } = request.query as { to?: unknown; organization?: unknown };
    const organizationId = organizationOf(organization);
    const offers = await offersOf(organizationId);
    const page = logInPage(base, { to: ownPathOf(to), offers, organizationId });
    return sendPage(reply, page, request);
  });

  pages.post('/log-in', async (request, reply) => {
    const fields = await parts.fieldsOf(request, reply);
    const [name, password] = [(fields.get('name') ?? '').trim(), fields.get('password') ?? ''];
    const to = ownPathOf(fields.get('to'));
    const organizationId = organizationOf(fields.get('organization'));
    const earlier = await sessions.find(request.raw);
    const client = { ...parts.clientOf(request), signal: parts.endOf(reply) };
    const result = await logIn.logIn({ name, password, organizationId }, client, earlier);
    if (!('problem' in result)) return begin(reply, result, to);
    if (result.problem === 'wrong') {
      const offers = await offersOf(organizationId);
      const problem: Said = ({ wrongPassword }) => wrongPassword;
      const page = logInPage(base, { to, name, problem, offers, organizationId }, 403);
      return sendPage(reply, page, request);
    }
    const seconds = Math.ceil(result.afterMs / 1_000);
    const problem: Said = ({ tooManyPasswords }) => tooManyPasswords(seconds);
    reply.header('retry-after', seconds);
    return sendPage(reply, logInPage(base, { to, name, problem, organizationId }, 429), request);
  });

  pages.get('/logged-in', async (request, reply) => {
    const { to } = request.query as { to?: unknown };
    if ((await sessions.find(request.raw)) !== undefined) return reply.redirect(ownPathOf(to), 303);
    return sendPage(reply, cookieLostPage(base), request);
  });

  pages.post('/log-out', async (request, reply) => {
    const session = await sessions.find(request.raw);
    if (session !== undefined) await sessions.end(session, request.ip);
    reply.header('set-cookie', ENDED_COOKIE).header('clear-site-data', '"cache", "storage"');
    return reply.redirect(`${base}/log-in`, 303);
  });
}

function organizationOf(asked: unknown): string | undefined {
  return typeof asked === 'string' && isUuid(asked) ? asked.toLowerCase() : undefined;
}
