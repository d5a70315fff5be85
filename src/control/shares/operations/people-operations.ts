/**
 * Operations on people and their invitations. A caller gives and takes away only roles whose scopes it has itself, so
 * that an administrator of an organization neither makes nor removes operators of the installation.
 */
import { FrontdoorError } from '#base';
import type { InvitationAnswer, PersonAnswer } from '#contract/schemas';
import { invalidValue, parseName, ROLE_SCOPES, type Role } from '#domain';
import {
  changePerson,
  createInvitation,
  deleteInvitation,
  deletePerson,
  deletePersonTotp,
  findInvitation,
  findPerson,
  listInvitations,
  listPeople,
  lockPerson,
  putPasswordLink,
  type InvitationRecord,
  type PersonRecord,
} from '../../credentials/people/mod.ts';
import type { StoreTransaction } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  created,
  gone,
  isoTime,
  ok,
  unstored,
  type Call,
  type CreationParts,
  type Handlers,
} from './call.ts';
import { creation } from './creation.ts';
import { checkIfMatch } from './entity-tag.ts';
import {
  askedOrganization,
  checkMayHandOut,
  lockReachedOrganization,
  mayReach,
} from './granted-organization.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest } from './page-query.ts';

const SECOND_MS = 1_000;
/** 7 days. */
const INVITATION_SECONDS = 604_800;
/** An hour. */
const PASSWORD_LINK_MS = 3_600_000;

type CallOfOne = Call<unknown, 'id'>;

export const peopleHandlers: Handlers<
  CreationParts,
  | 'listPeople'
  | 'getPerson'
  | 'changePerson'
  | 'deletePerson'
  | 'removePersonSecondFactor'
  | 'createPasswordLink'
  | 'createInvitation'
  | 'listInvitations'
  | 'deleteInvitation'
> = {
  async listPeople(parts, call) {
    const organizationId = await askedOrganization(parts.store.db, call);
    const request = parsePageRequest(call.query);
    const page = await listPeople(parts.store.db, organizationId, request, listFilterOf(call.query));
    return ok(countedPageAnswer(request, page, page.content.map(personAnswer)));
  },

  async getPerson(parts, call) {
    return ok(personAnswer(reached(call, await findPerson(parts.store.db, call.parameters.id))));
  },

  async changePerson(parts, call) {
    const { name, role } = call.body;
    const result = await change(parts, call, async (trx) => {
      const before = reached(call, await lockPerson(trx, call.parameters.id));
      checkIfMatch(parts, call, personAnswer(before));
      if (call.body.id !== undefined && call.body.id !== before.id) throw invalidValue('id', before.id);
      if (role !== undefined && role !== before.role) {
        checkNotOneself(call, before);
        checkMayGive(call, before.role);
        checkMayGive(call, role);
      }
      const after = await changePerson(trx, before, {
        name: name === undefined ? undefined : parseName(name)!,
        role,
      });
      return { result: after, ...eventOf(before), before: personAnswer(before), after: personAnswer(after) };
    });
    return ok(personAnswer(result));
  },

  async deletePerson(parts, call) {
    await change(parts, call, async (trx) => {
      const before = await lockOther(parts, call, trx);
      await deletePerson(trx, before.id);
      return { result: undefined, ...eventOf(before), before: personAnswer(before) };
    });
    return gone;
  },

  async removePersonSecondFactor(parts, call) {
    await change(parts, call, async (trx) => {
      const before = await lockOther(parts, call, trx);
      if (!before.secondFactor) throw notFound('Second factor', before.id);
      await deletePersonTotp(trx, before.id);
      return { result: undefined, ...eventOf(before), before: personAnswer(before) };
    });
    return gone;
  },

  async createPasswordLink(parts, call) {
    const expiresAtMs = parts.clock.nowMs() + PASSWORD_LINK_MS;
    const code = await change(parts, call, async (trx) => {
      const person = await lockOther(parts, call, trx);
      const result = await putPasswordLink(trx, parts.secrets, person.id, call.principal, expiresAtMs);
      if (result === undefined)
        throw conflict('The person has no password, and signs in with an auth provider');
      return { result, ...eventOf(person), after: { expiresAt: isoTime(expiresAtMs) } };
    });
    const link = `${parts.baseUrl()}/console/new-password#${code}`;
    return unstored(ok({ link, expiresAt: isoTime(expiresAtMs) }));
  },

  async createInvitation(parts, call) {
    const { body, principal } = call;
    const { role, email = null, lifetimeSeconds = INVITATION_SECONDS } = body;
    const organizationId = body.organizationId ?? principal.organizationId;
    const nowMs = parts.clock.nowMs();
    const make = async (trx: StoreTransaction) => {
      const organization = await lockReachedOrganization(trx, principal, organizationId);
      checkMayGive(call, role);
      const wanted = {
        organizationId: organization.id,
        name: parseName(body.name)!,
        email: email?.toLowerCase() ?? null,
        role,
        maker: principal,
        expiresAtMs: nowMs + lifetimeSeconds * SECOND_MS,
      };
      const made = await createInvitation(trx, parts.secrets, wanted, nowMs);
      if (made === undefined) throw conflict('The organization has too many open invitations');
      const after = invitationAnswer(made.invitation);
      const target = { kind: 'invitation', id: made.invitation.id };
      return { result: made, target, after, organizationId: organization.id };
    };
    return creation(parts, call, make, ({ invitation, code }) => {
      const link = `${parts.baseUrl()}/console/welcome#${code}`;
      const answer = { ...invitationAnswer(invitation), link };
      return unstored(created(parts, `/invitations/${invitation.id}`, answer));
    });
  },

  async listInvitations(parts, call) {
    const organizationId = await askedOrganization(parts.store.db, call);
    const request = parsePageRequest(call.query);
    const filter = listFilterOf(call.query);
    const nowMs = parts.clock.nowMs();
    const page = await listInvitations(parts.store.db, organizationId, request, filter, nowMs);
    return ok(countedPageAnswer(request, page, page.content.map(invitationAnswer)));
  },

  async deleteInvitation(parts, call) {
    const { id } = call.parameters;
    await change(parts, call, async (trx) => {
      const before = await findInvitation(trx, id, parts.clock.nowMs());
      if (before === undefined || !mayReach(call.principal, before.organizationId))
        throw notFound('Invitation', id);
      checkMayGive(call, before.role);
      if (!(await deleteInvitation(trx, before.id))) throw notFound('Invitation', id);
      const target = { kind: 'invitation', id: before.id };
      return {
        result: undefined,
        target,
        before: invitationAnswer(before),
        organizationId: before.organizationId,
      };
    });
    return gone;
  },
};

/** Returns the person of the path, if the caller may administer the organization. */
function reached(call: CallOfOne, person: PersonRecord | undefined): PersonRecord {
  if (person === undefined || !mayReach(call.principal, person.organizationId))
    throw notFound('Person', call.parameters.id);
  return person;
}

function checkMayGive({ principal }: Call<unknown, never>, role: Role | null): void {
  if (role !== null) checkMayHandOut(principal, ROLE_SCOPES[role]);
}

/** Returns the person, locked. Throws if the caller may not take anything from this person. */
async function lockOther(
  parts: CreationParts,
  call: CallOfOne,
  trx: StoreTransaction,
): Promise<PersonRecord> {
  const person = reached(call, await lockPerson(trx, call.parameters.id));
  checkIfMatch(parts, call, personAnswer(person));
  checkNotOneself(call, person);
  checkMayGive(call, person.role);
  return person;
}

/** Nobody locks oneself out, and an organization keeps the person who administers it. */
function checkNotOneself({ principal }: CallOfOne, { id }: PersonRecord): void {
  if (principal.kind === 'person' && principal.id === id)
    throw conflict('Another administrator has to do this for you');
}

function conflict(message: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', message);
}

function eventOf({ id, organizationId }: PersonRecord) {
  return { target: { kind: 'person', id }, organizationId };
}

function personAnswer(person: PersonRecord): PersonAnswer {
  const { id, name, email, organizationId, role, createdAtMs, lastSeenAtMs, secondFactor } = person;
  const lastSeenAt = lastSeenAtMs === null ? null : isoTime(lastSeenAtMs);
  const known = {
    id,
    name,
    email,
    organizationId,
    createdAt: isoTime(createdAtMs),
    lastSeenAt,
    secondFactor,
  };
  return role === null ? known : { ...known, role };
}

function invitationAnswer(invitation: InvitationRecord): InvitationAnswer {
  const { id, name, email, organizationId, role, maker, makerName, createdAtMs, expiresAtMs } = invitation;
  const createdBy = { kind: maker.kind, id: maker.id, name: makerName };
  const times = { createdAt: isoTime(createdAtMs), expiresAt: isoTime(expiresAtMs) };
  return { id, name, email, organizationId, role, createdBy, ...times };
}
