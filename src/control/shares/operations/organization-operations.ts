/**
 * Operations on organizations: those of the whole installation for callers with `frontdoor.admin`, one's own with
 * `frontdoor.organization`. Every caller can get itself and the frontdoors of its own organization.
 */
import { createHash } from 'node:crypto';
import { FrontdoorError } from '#base';
import type { CallerAnswer, OrganizationAnswer } from '#contract/schemas';
import { invalidValue, parseName } from '#domain';
import type { Principal } from '../../credentials/oauth/mod.ts';
import {
  changeOrganization,
  createOrganization,
  deleteOrganization,
  endSessionsWithoutFactor,
  findPerson,
  findSignInPage,
  listOrganizations,
  lockedSignInPage,
  putSignInPage,
  type SignInPageRecord,
  type OrganizationRecord,
} from '../../credentials/people/mod.ts';
import { hasFrontdoor, listFrontdoors } from '../records/frontdoor-store.ts';
import { forgetKeptAnswers } from './idempotency-store.ts';
import { findCallerRecord, removesLastAdmin } from '../../credentials/accounts/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { change, created, gone, ok, type Call, type CreationParts, type Handlers } from './call.ts';
import { creation } from './creation.ts';
import { checkIfMatch } from './entity-tag.ts';
import { parseLogo } from './logo-image.ts';
import { lockReachedOrganization, reachedOrganization } from './granted-organization.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest } from './page-query.ts';

export const organizationHandlers: Handlers<
  CreationParts,
  | 'getCaller'
  | 'createOrganization'
  | 'listOrganizations'
  | 'getOrganization'
  | 'changeOrganization'
  | 'deleteOrganization'
  | 'getOrganizationSettings'
  | 'changeOrganizationSettings'
  | 'getSignInPage'
  | 'replaceSignInPage'
  | 'listFrontdoors'
> = {
  async getCaller(parts, { principal }) {
    const { kind, id, organizationId, scopes } = principal;
    const name = await nameOf(parts.store.db, principal);
    return ok({ kind, id, name, organizationId, scopes: [...scopes] } satisfies CallerAnswer);
  },

  async createOrganization(parts, call) {
    const name = parseName(call.body.name)!;
    const make = async (trx: Queries, touch: Touch) => {
      const made = await createOrganization(trx, touch, { name, nowMs: parts.clock.nowMs() });
      return { result: made, target: targetOf(made), after: answerOf(made), organizationId: made.id };
    };
    return creation(parts, call, make, (organization) =>
      created(parts, `/organizations/${organization.id}`, answerOf(organization)),
    );
  },

  async listOrganizations(parts, call) {
    const request = parsePageRequest(call.query);
    const page = await listOrganizations(parts.store.db, request, listFilterOf(call.query));
    return ok(countedPageAnswer(request, page, page.content.map(answerOf)));
  },

  async getOrganization(parts, call) {
    return ok(answerOf(await reached(parts.store.db, call)));
  },

  async changeOrganization(parts, call) {
    const { body } = call;
    const after = await change(parts, call, async (trx, touch) => {
      const before = await locked(trx, call);
      checkIfMatch(parts, call, answerOf(before));
      if (body.id !== undefined && body.id !== before.id) throw invalidValue('id', before.id);
      const name = body.name === undefined ? undefined : parseName(body.name)!;
      const result = await changeOrganization(trx, touch, before, { name });
      const views = { before: answerOf(before), after: answerOf(result) };
      return { result, target: targetOf(before), ...views, organizationId: before.id };
    });
    return ok(answerOf(after));
  },

  async deleteOrganization(parts, call) {
    await change(parts, call, async (trx, touch) => {
      const before = await locked(trx, call);
      const { id } = before;
      checkIfMatch(parts, call, answerOf(before));
      if (id === call.principal.organizationId) throw conflict('An organization cannot delete itself');
      if (await hasFrontdoor(trx, id)) throw conflict(`Organization ${id} still has frontdoors`);
      if (await removesLastAdmin(trx, (account) => account.organizationId === id)) {
        throw conflict('The last API account with the scope frontdoor.admin must stay');
      }
      await forgetKeptAnswers(trx, id);
      await deleteOrganization(trx, touch, id);
      return { result: undefined, target: targetOf(before), before: answerOf(before), organizationId: id };
    });
    return gone;
  },

  async getOrganizationSettings(parts, call) {
    return ok(settingsOf(await reached(parts.store.db, call)));
  },

  async changeOrganizationSettings(parts, call) {
    const { tokenExchange, secondFactor } = call.body;
    const after = await change(parts, call, async (trx, touch) => {
      const before = await locked(trx, call);
      checkIfMatch(parts, call, settingsOf(before));
      const result = await changeOrganization(trx, touch, before, { tokenExchange, secondFactor });
      if (result.secondFactor && !before.secondFactor) await endSessionsWithoutFactor(trx, before.id);
      const views = { before: settingsOf(before), after: settingsOf(result) };
      return { result, target: targetOf(before), ...views, organizationId: before.id };
    });
    return ok(settingsOf(after));
  },

  async getSignInPage(parts, call) {
    const { id } = await reached(parts.store.db, call);
    return ok(await findSignInPage(parts.store.db, id));
  },

  async replaceSignInPage(parts, call) {
    const { title = null, logo = null } = call.body;
    const wanted: SignInPageRecord = {
      title: title === null ? null : parseName(title)!,
      logo: logo === null ? null : parseLogo(logo),
    };
    const after = await change(parts, call, async (trx) => {
      const organization = await locked(trx, call);
      const before = await lockedSignInPage(trx, organization.id);
      checkIfMatch(parts, call, before);
      await putSignInPage(trx, organization.id, wanted);
      const views = { before: auditedPage(before), after: auditedPage(wanted) };
      return { result: wanted, target: targetOf(organization), ...views, organizationId: organization.id };
    });
    return ok(after);
  },

  async listFrontdoors(parts, call) {
    const organization = await reached(parts.store.db, call);
    const request = parsePageRequest(call.query);
    const filter = listFilterOf(call.query);
    const page = await listFrontdoors(parts.store.db, organization.id, request, filter);
    return ok(countedPageAnswer(request, page, page.content));
  },
};

/** Returns null for a caller that is not stored: the token of a trusted issuer. */
async function nameOf(db: Queries, { kind, id }: Principal): Promise<string | null> {
  if (kind === 'issuer') return null;
  const found = kind === 'person' ? await findPerson(db, id) : await findCallerRecord(db, kind, id);
  return found?.name ?? null;
}

/** Returns the organization of the path, if the caller may see it. */
function reached(db: Queries, call: Call<unknown, 'organizationId'>): Promise<OrganizationRecord> {
  return reachedOrganization(db, call.principal, call.parameters.organizationId);
}

/** Returns the organization of the path, locked until the change is done, if the caller may see it. */
function locked(trx: Queries, call: Call<unknown, 'organizationId'>): Promise<OrganizationRecord> {
  return lockReachedOrganization(trx, call.principal, call.parameters.organizationId);
}

function conflict(message: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', message);
}

function targetOf({ id }: OrganizationRecord) {
  return { kind: 'organization', id };
}

function answerOf({ id, name }: OrganizationRecord): OrganizationAnswer {
  return { id, name };
}

/** The trail has the digest of a logo, not its bytes. */
function auditedPage({ title, logo }: SignInPageRecord) {
  const logoSha256 = logo === null ? null : createHash('sha256').update(logo, 'base64').digest('hex');
  return { title, logoSha256 };
}

function settingsOf({ tokenExchange, secondFactor }: OrganizationRecord) {
  return { tokenExchange, secondFactor };
}
