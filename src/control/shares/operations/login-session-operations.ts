/**
 * Operations on the sessions of people who logged in with an auth provider: list and end them. Responses contain
 * no session secrets, which the store has only as HMACs.
 */
import type { EndedSessionsAnswer, LoginSessionAnswer } from '#contract/schemas';
import { invalidValue } from '#domain';
import { parseEmailPattern } from '#domain/access';
import {
  endAllSessions,
  endSession,
  endSessionsOf,
  findSessionProvider,
  listSessions,
  type ProviderSession,
  type SessionFilter,
} from '../logins/provider-sessions.ts';
import { guardedHost } from '../logins/guarded-host.ts';
import type { Queries } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  gone,
  isoTime,
  ok,
  unstored,
  type ApiParts,
  type Call,
  type ChangeParts,
  type Handlers,
} from './call.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest, textOf, type Query } from './page-query.ts';

const KIND = 'login-session';

export const loginSessionHandlers: Handlers<
  ChangeParts & Pick<ApiParts, 'catalog'>,
  'listLoginSessions' | 'endLoginSessions' | 'endLoginSession'
> = {
  async listLoginSessions(parts, call) {
    const request = parsePageRequest(call.query);
    const filter = filterFrom(call.query);
    const provider = await providerOf(parts.store.db, call);
    const { fromMs, toMs } = listFilterOf(call.query);
    const span = { fromMs, toMs };
    const page = await listSessions(parts.store.db, provider, filter, request, parts.clock.nowMs(), span);
    const content = page.content.map((session) => answerOf(parts, session));
    return unstored(ok(countedPageAnswer(request, page, content)));
  },

  async endLoginSessions(parts, call) {
    const filter = filterFrom(call.query);
    const isEverybody = call.query['all'] !== undefined;
    const isNobody = filter.email === undefined && filter.subject === undefined;
    if (isEverybody !== isNobody)
      throw invalidValue('email, subject or all', 'one of these, or both of the first');
    const answer = await change(parts, call, async (trx, touch) => {
      const provider = await providerOf(trx, call);
      const nowMs = parts.clock.nowMs();
      const ended = isEverybody
        ? await endAllSessions(trx, touch, provider, nowMs)
        : await endSessionsOf(trx, touch, provider, filter, nowMs);
      const result: EndedSessionsAnswer = { ended };
      const before = { ...filter, ...(isEverybody ? { all: true } : {}), sessions: ended };
      return { result, target: { kind: 'auth-provider', id: provider.id }, before };
    });
    return unstored(ok(answer));
  },

  async endLoginSession(parts, call) {
    const { sessionId: id } = call.parameters;
    await change(parts, call, async (trx, touch) => {
      const provider = await providerOf(trx, call);
      const session = await endSession(trx, touch, provider, id, parts.clock.nowMs());
      if (session === undefined) throw notFound('Session', id);
      return { result: undefined, target: { kind: KIND, id: session.id }, before: answerOf(parts, session) };
    });
    return gone;
  },
};

async function providerOf(db: Queries, { frontdoor, parameters }: Call<unknown, 'id'>) {
  const { id } = parameters;
  const provider = await findSessionProvider(db, frontdoor, id);
  if (provider === undefined) throw notFound('Auth provider', id);
  return provider;
}

function filterFrom(query: Query): SessionFilter {
  return { email: emailOf(query), subject: textOf(query, 'subject') };
}

/**
 * Converts to the stored form. A pattern for several addresses is refused, because it would find nobody and look
 * like an empty result.
 */
function emailOf(query: Query): string | undefined {
  const given = textOf(query, 'email');
  if (given === undefined) return undefined;
  const pattern = parseEmailPattern(given);
  if (pattern === undefined || !('email' in pattern)) throw invalidValue('email', 'name@domain');
  return pattern.email;
}

function answerOf({ catalog }: Pick<ApiParts, 'catalog'>, session: ProviderSession): LoginSessionAnswer {
  const { id, shareId, shareToken, host, subject, email, name, createdAtMs, lastUsedAtMs } = session;
  // Evaluated with the share's current policy, as gateways do.
  const limits = guardedHost(catalog, shareId, host)?.session;
  const expiresAtMs =
    limits === undefined
      ? session.expiresAtMs
      : Math.min(session.expiresAtMs, createdAtMs + limits.absoluteMs, lastUsedAtMs + limits.idleMs);
  return {
    id,
    subject,
    email,
    name,
    shareToken,
    host,
    createdAt: isoTime(createdAtMs),
    lastSeenAt: isoTime(lastUsedAtMs),
    expiresAt: isoTime(expiresAtMs),
  };
}
