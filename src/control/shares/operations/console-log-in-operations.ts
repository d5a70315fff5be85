/** Operations on the auth providers with which people log in at the console. */
import type { ConsoleLogInAnswer } from '#contract/schemas';
import { invalidValue, ROLE_SCOPES } from '#domain';
import {
  createConsoleLogIn,
  deleteConsoleLogIn,
  findConsoleLogIn,
  listConsoleLogIns,
  type ConsoleLogInRecord,
} from '../../credentials/people/mod.ts';
import type { StoreTransaction } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  created,
  gone,
  isoTime,
  ok,
  type ApiParts,
  type CreationParts,
  type Handlers,
} from './call.ts';
import { creation } from './creation.ts';
import {
  askedOrganization,
  checkMayHandOut,
  checkMayVouch,
  lockReachedOrganization,
  mayReach,
} from './granted-organization.ts';
import { countedPageAnswer, parsePageRequest } from './page-query.ts';

export const consoleLogInHandlers: Handlers<
  CreationParts,
  'createConsoleLogIn' | 'listConsoleLogIns' | 'deleteConsoleLogIn'
> = {
  async createConsoleLogIn(parts, call) {
    const { body, principal } = call;
    const { authProviderId, roles = [] } = body;
    const organizationId = body.organizationId ?? principal.organizationId;
    for (const [index, { group, email, role }] of roles.entries()) {
      if (group === undefined && email === undefined)
        throw invalidValue(`roles.${index}`, 'object with group or email');
      // The provider gives these roles to people whom nobody looks at again.
      checkMayHandOut(principal, ROLE_SCOPES[role]);
    }
    const make = async (trx: StoreTransaction) => {
      const organization = await lockReachedOrganization(trx, principal, organizationId);
      const wanted = { organizationId: organization.id, authProviderId, roles };
      const made = await createConsoleLogIn(trx, wanted, parts.clock.nowMs());
      if (made === undefined) throw notFound('Auth provider', authProviderId);
      const target = { kind: 'console-log-in', id: made.id };
      return { result: made, target, after: answerOf(parts, made), organizationId: organization.id };
    };
    return creation(parts, call, make, (made) =>
      created(parts, `/console-log-ins/${made.id}`, answerOf(parts, made)),
    );
  },

  async listConsoleLogIns(parts, call) {
    const organizationId = await askedOrganization(parts.store.db, call);
    const request = parsePageRequest(call.query);
    const page = await listConsoleLogIns(parts.store.db, organizationId, request);
    const content = page.content.map((each) => answerOf(parts, each));
    return ok(countedPageAnswer(request, page, content));
  },

  async deleteConsoleLogIn(parts, call) {
    const { id } = call.parameters;
    await change(parts, call, async (trx) => {
      const before = await findConsoleLogIn(trx, id);
      if (before === undefined || !mayReach(call.principal, before.organizationId))
        throw notFound('Console sign-in', id);
      await checkMayVouch(trx, call.principal, { authProviderId: before.authProviderId });
      await deleteConsoleLogIn(trx, before);
      const target = { kind: 'console-log-in', id: before.id };
      const { organizationId } = before;
      return { result: undefined, target, before: answerOf(parts, before), organizationId };
    });
    return gone;
  },
};

function answerOf(
  { baseUrl }: Pick<ApiParts, 'baseUrl'>,
  { id, authProviderId, name, organizationId, roles, createdAtMs }: ConsoleLogInRecord,
): ConsoleLogInAnswer {
  const callbackUrl = `${baseUrl()}/console/callback/${authProviderId}`;
  const createdAt = isoTime(createdAtMs);
  return { id, authProviderId, name, organizationId, roles: [...roles], callbackUrl, createdAt };
}
