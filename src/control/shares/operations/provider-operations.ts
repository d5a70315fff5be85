/**
 * Operations on auth providers. Their data is checked against the schema of their type before it is stored. A
 * provider in use cannot be deleted, so that no share becomes open by its absence.
 */
import { FrontdoorError } from '#base';
import type { ProviderAnswer } from '#contract/schemas';
import { invalidValue, parseName } from '#domain';
import { provesPeople, type AuthProviderType, type ProviderData } from '#domain/provider-types';
import { reservedId } from '../provider/provider-reservation.ts';
import { checkProviderData } from '../provider/provider-schema.ts';
import { settleProviderData, shownProviderData } from '../provider/provider-secrets.ts';
import type { Principal } from '../../credentials/oauth/mod.ts';
import { checkNotNeededForPeople } from '../records/policy-warning-store.ts';
import { consoleLogInIdUsing, keepProviderSession } from '../../credentials/people/mod.ts';
import {
  countSharesUsing,
  deleteAuthProvider,
  findAuthProvider,
  insertAuthProvider,
  listAuthProviders,
  listSharesUsing,
  lockAuthProvider,
  updateAuthProvider,
  type AuthProviderRecord,
} from '../records/auth-provider-store.ts';
import { listFrontendsUsing } from '../records/custom-frontend-store.ts';
import { touchResource, type Queries, type Touch } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  created,
  gone,
  ok,
  unstored,
  type ApiAnswer,
  type Call,
  type ChangeParts,
  type CreationParts,
  type Handlers,
} from './call.ts';
import { creation } from './creation.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import { checkMayVouch } from './granted-organization.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest } from './page-query.ts';

const KIND = 'auth-provider';
/** A refusal lists at most this many users. */
const MAX_USERS_NAMED = 10;
const MAX_USERS_SHOWN = 100;

type CallOfOne = Call<unknown, 'id'>;

export const providerHandlers: Handlers<
  CreationParts,
  | 'listAuthProviders'
  | 'createAuthProvider'
  | 'getAuthProvider'
  | 'changeAuthProvider'
  | 'replaceAuthProvider'
  | 'deleteAuthProvider'
  | 'getAuthProviderUses'
> = {
  async listAuthProviders(parts, call) {
    const request = parsePageRequest(call.query);
    const page = await listAuthProviders(parts.store, call.frontdoor, request, listFilterOf(call.query));
    return ok(countedPageAnswer(request, page, page.content));
  },

  async createAuthProvider(parts, call) {
    const { body, frontdoor } = call;
    checkProviderData(body.type, body.data);
    const { secrets, clock } = parts;
    const id =
      body.reservation === undefined
        ? undefined
        : reservedId(secrets, frontdoor.id, body.reservation, clock.nowMs());
    const make = async (trx: Queries, touch: Touch) => {
      const settled = settleProviderData(parts.secrets, body.type, body.data);
      const made = await insertAuthProvider(trx, touch, frontdoor, {
        name: parseName(body.name)!,
        type: body.type,
        enabled: true,
        settled,
        id,
        nowMs: parts.clock.nowMs(),
      });
      return {
        result: { provider: made, shown: { ...answerOf(made), data: settled.shown } },
        target: { kind: KIND, id: made.id },
        after: answerOf(made),
      };
    };
    return creation(parts, call, make, ({ provider, shown }) => {
      const path = `/frontdoor/${frontdoor.id}/auth-providers/${shown.id}`;
      return tagged(parts, unstored(created(parts, path, shown)), storedOf(provider));
    });
  },

  async getAuthProvider(parts, call) {
    const { id } = call.parameters;
    const provider = await findAuthProvider(parts.store.db, call.frontdoor, id);
    if (provider === undefined) throw notFound('Auth provider', id);
    return tagged(parts, ok(answerOf(provider)), storedOf(provider));
  },

  changeAuthProvider(parts, call) {
    const { body } = call;
    checkId(body, call.parameters.id);
    return update(parts, call, (before) => ({
      name: body.name ?? before.name,
      type: body.type ?? before.type,
      enabled: body.enabled ?? before.enabled,
      data: body.data === undefined ? before.data : merged(before.data, body.data),
    }));
  },

  replaceAuthProvider(parts, call) {
    const { body } = call;
    checkId(body, call.parameters.id);
    return update(parts, call, (before) => ({ ...body, enabled: body.enabled ?? before.enabled }));
  },

  async deleteAuthProvider(parts, call) {
    const { id } = call.parameters;
    await change(parts, call, async (trx, touch) => {
      const provider = await lockAuthProvider(trx, call.frontdoor, id);
      if (provider === undefined) throw notFound('Auth provider', id);
      checkIfMatch(parts, call, storedOf(provider));
      await checkUnused(trx, provider.id);
      await deleteAuthProvider(trx, touch, provider);
      return { result: undefined, target: { kind: KIND, id: provider.id }, before: answerOf(provider) };
    });
    return gone;
  },

  async getAuthProviderUses(parts, call) {
    const { id } = call.parameters;
    const { db } = parts.store;
    const provider = await findAuthProvider(db, call.frontdoor, id);
    if (provider === undefined) throw notFound('Auth provider', id);
    const [shares, shareCount, customFrontends, consoleLogInId = null] = await Promise.all([
      listSharesUsing(db, provider.id, MAX_USERS_SHOWN),
      countSharesUsing(db, provider.id),
      listFrontendsUsing(db, provider.id, MAX_USERS_SHOWN),
      consoleLogInIdUsing(db, provider.id),
    ]);
    return ok({ shares, shareCount, customFrontends, consoleLogInId });
  },
};

interface Wanted {
  readonly name: string;
  readonly type: AuthProviderType;
  readonly enabled: boolean;
  readonly data: ProviderData;
}

/** Replaces the stored provider by the result of `wantedOf`. */
async function update(
  parts: ChangeParts,
  call: CallOfOne,
  wantedOf: (before: AuthProviderRecord) => Wanted,
): Promise<ApiAnswer<ProviderAnswer>> {
  const { id } = call.parameters;
  const { provider, shown } = await change(parts, call, async (trx, touch) => {
    const before = await lockAuthProvider(trx, call.frontdoor, id);
    if (before === undefined) throw notFound('Auth provider', id);
    checkIfMatch(parts, call, storedOf(before));
    await checkMayVouch(trx, call.principal, { authProviderId: before.id });
    const { name, type, enabled, data } = wantedOf(before);
    checkProviderData(type, data);
    if (provesPeople(before.type) && !provesPeople(type)) await checkNotNeededForPeople(trx, before.id);
    const settled = settleProviderData(parts.secrets, type, data, before);
    const nowMs = parts.clock.nowMs();
    const definition = { name: parseName(name)!, type, enabled, settled, nowMs };
    const after = await updateAuthProvider(trx, touch, before, definition);
    await endLogInsOf(trx, touch, call.principal, after.id);
    return {
      result: { provider: after, shown: { ...answerOf(after), data: settled.shown } },
      target: { kind: KIND, id: after.id },
      before: answerOf(before),
      after: answerOf(after),
    };
  });
  return tagged(parts, unstored(ok(shown)), storedOf(provider));
}

/**
 * Sessions that began with another state of the provider have ended, apart from the one that changed it. Streams of theirs
 * learn it with this change.
 */
async function endLogInsOf(
  trx: Queries,
  touch: Touch,
  { sessionId }: Principal,
  providerId: string,
): Promise<void> {
  const id = await consoleLogInIdUsing(trx, providerId);
  if (id === undefined) return;
  touchResource(touch, { ownerId: null, kind: 'console-log-in', id });
  if (sessionId !== undefined) await keepProviderSession(trx, sessionId, providerId);
}

/** The fields that the entity tag covers, with its secrets, but without the times of use of its keys. */
function storedOf({ id, name, type, enabled, data, secretsSealed, keys }: AuthProviderRecord) {
  const hmacs = keys.map((key) => `${key.hmac} ${key.name}`).sort();
  return { id, name, type, enabled, data, secretsSealed, hmacs };
}

function answerOf({ id, name, type, enabled, data, keys }: AuthProviderRecord): ProviderAnswer {
  return { id, name, type, enabled, data: shownProviderData(data, keys) };
}

/** RFC 7396, one level deep: null removes a field, anything else replaces it. */
function merged(before: ProviderData, changes: ProviderData): ProviderData {
  const entries = Object.entries({ ...before, ...changes });
  return Object.fromEntries(entries.filter(([, value]) => value !== null));
}

/** The id may be sent back as it was read, but must equal that of the path. */
function checkId(body: { readonly id?: unknown }, pathId: string): void {
  const { id } = body;
  if (id === undefined || (typeof id === 'string' && id.toLowerCase() === pathId.toLowerCase())) return;
  throw invalidValue('id', pathId);
}

/** Throws the refusal that names what uses the provider. */
async function checkUnused(trx: Queries, id: string): Promise<void> {
  const shares = await listSharesUsing(trx, id, MAX_USERS_NAMED + 1);
  const customFrontends = await listFrontendsUsing(trx, id, MAX_USERS_NAMED + 1);
  const isConsoleLogIn = (await consoleLogInIdUsing(trx, id)) !== undefined;
  const users = [
    ...usersOf(
      'share',
      shares.map(({ token }) => token),
    ),
    ...usersOf(
      'custom frontend',
      customFrontends.map(({ hostname }) => hostname),
    ),
    ...(isConsoleLogIn ? ['the console sign-in'] : []),
  ];
  if (users.length === 0) return;
  const message = `Auth provider ${id} is used by ${users.join(' and ')}`;
  throw new FrontdoorError('conflict', 'in-use', message);
}

function usersOf(kind: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const named = names.slice(0, MAX_USERS_NAMED).join(', ');
  const more = names.length > MAX_USERS_NAMED ? ' and others' : '';
  return [`${names.length === 1 ? kind : `${kind}s`} ${named}${more}`];
}
