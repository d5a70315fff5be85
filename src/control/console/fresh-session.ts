/** Sessions for acts of a person on the own log-in, at pages of the console: they need a log-in of the last 15 minutes. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleSession } from '../credentials/people/mod.ts';
import { problemPage } from './console-pages.ts';
import type { SendPage } from './page-answer.ts';
import type { ConsoleSessions } from './console-sessions.ts';

export interface FreshSessionParts {
  readonly sessions: ConsoleSessions;
  readonly base: string;
  readonly sendPage: SendPage;
}

/**
 * Returns the session of the request, if its log-in is fresh. Else it answers, with what leads to the log-in and from there to
 * the page `to`, and returns undefined.
 */
export async function freshSession(
  { sessions, base, sendPage }: FreshSessionParts,
  request: FastifyRequest,
  reply: FastifyReply,
  to: string,
): Promise<ConsoleSession | undefined> {
  const session = await sessions.find(request.raw);
  if (session !== undefined && sessions.isRecent(session)) return session;
  const logIn = `${base}/log-in?to=${encodeURIComponent(to)}`;
  if (session === undefined) reply.redirect(logIn, 303);
  else {
    const page = problemPage(
      403,
      ({ signInAgain }) => signInAgain,
      ({ signInTooOld }) => signInTooOld,
      logIn,
    );
    await sendPage(reply, page, request);
  }
  return undefined;
}
