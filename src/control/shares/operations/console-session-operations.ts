/** Operations on sessions at the console: one's own, and with `frontdoor.organization` those of the organization. */
import type { ConsoleSessionAnswer, EndedSessionsAnswer } from '#contract/schemas';
import { includesScope } from '#domain';
import {
  endConsoleSession,
  endSessionsOfOwner,
  findConsoleSessionById,
  listConsoleSessions,
  lockPerson,
  type ConsoleSession,
  type SessionBeginning,
  type SessionOwner,
} from '../../credentials/people/mod.ts';
import type { Principal } from '../../credentials/oauth/mod.ts';
import { touchResource } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  gone,
  isoTime,
  ok,
  unstored,
  type ApiParts,
  type ChangeParts,
  type Handlers,
} from './call.ts';
import { CONSOLE_IDLE_MS } from './console-access.ts';
import { askedOrganization, checkMayHandOut, mayReach } from './granted-organization.ts';
import { countedPageAnswer, parsePageRequest, textOf } from './page-query.ts';

const SCOPE = 'frontdoor.organization';

export const consoleSessionHandlers: Handlers<
  ChangeParts & Pick<ApiParts, 'store'>,
  'listConsoleSessions' | 'endConsoleSession' | 'endOtherConsoleSessions'
> = {
  async listConsoleSessions(parts, call) {
    const organizationId = await askedOrganization(parts.store.db, call);
    const request = parsePageRequest(call.query);
    const { principal } = call;
    const times = timesOf(parts);
    const own = ownerOf(principal);
    const isWhole = includesScope(principal.scopes, SCOPE);
    if (!isWhole && own === undefined)
      return unstored(ok(countedPageAnswer(request, { content: [], total: 0 }, [])));
    const of = isWhole ? { organizationId } : own!;
    const choice = {
      beganBy: textOf(call.query, 'logIn') as SessionBeginning | undefined,
      authProviderId: textOf(call.query, 'authProviderId')?.toLowerCase(),
    };
    const page = await listConsoleSessions(parts.store.db, of, request, choice, times);
    const content = page.content.map((session) => answerOf(session, principal));
    return unstored(ok(countedPageAnswer(request, page, content)));
  },

  async endConsoleSession(parts, call) {
    const { id } = call.parameters;
    await change(parts, call, async (trx) => {
      const session = await findConsoleSessionById(trx, id, timesOf(parts));
      if (session === undefined || !mayEnd(call.principal, session)) throw notFound('Session', id);
      if (!isOwn(call.principal, session)) checkMayHandOut(call.principal, session.scopes);
      await endConsoleSession(trx, session.id);
      const { organizationId } = session.owner;
      const before = answerOf(session, undefined);
      return {
        result: undefined,
        target: { kind: 'console-session', id: session.id },
        before,
        organizationId,
      };
    });
    return gone;
  },

  async endOtherConsoleSessions(parts, call) {
    const { principal } = call;
    const own = ownerOf(principal);
    const answer = await change<EndedSessionsAnswer>(parts, call, async (trx, touch) => {
      if (own === undefined) return { result: { ended: 0 } };
      // Before the sessions, as everything that ends sessions of a person does.
      if (own.kind === 'person') await lockPerson(trx, own.id);
      const ended = await endSessionsOfOwner(trx, own, principal.sessionId);
      touchResource(touch, { ownerId: null, kind: 'console-session', id: own.id });
      const target = { kind: own.kind, id: own.id };
      return { result: { ended }, target, before: { others: ended }, after: { others: 0 } };
    });
    return unstored(ok(answer));
  },
};

function timesOf({ clock }: Pick<ChangeParts, 'clock'>) {
  return { nowMs: clock.nowMs(), idleMs: CONSOLE_IDLE_MS };
}

/** Callers of trusted issuers and OAuth clients have no sessions. */
function ownerOf({ kind, id, organizationId }: Principal): SessionOwner | undefined {
  return kind === 'person' || kind === 'account' ? { kind, id, organizationId } : undefined;
}

function isOwn(principal: Principal, { owner }: ConsoleSession): boolean {
  return owner.kind === principal.kind && owner.id === principal.id;
}

function mayEnd(principal: Principal, session: ConsoleSession): boolean {
  if (isOwn(principal, session)) return true;
  return includesScope(principal.scopes, SCOPE) && mayReach(principal, session.owner.organizationId);
}

function answerOf(session: ConsoleSession, principal: Principal | undefined): ConsoleSessionAnswer {
  const { owner, name, address, browser } = session;
  return {
    id: session.id,
    personId: owner.kind === 'person' ? owner.id : null,
    accountId: owner.kind === 'account' ? owner.id : null,
    name,
    createdAt: isoTime(session.createdAtMs),
    lastUsedAt: isoTime(session.lastUsedAtMs),
    expiresAt: isoTime(session.expiresAtMs),
    address,
    browser,
    current: principal?.sessionId === session.id,
  };
}
