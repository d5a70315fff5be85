/**
 * Operations on API accounts and OAuth clients, which differ only in names. Their secrets are shown once, in the
 * response that creates them. No caller can grant more scopes than it has, neither with a new secret nor by
 * rotating another's.
 */
import { FrontdoorError } from '#base';
import type { BodyOf } from '#contract';
import { parseName } from '#domain';
import {
  createCaller,
  endPreviousSecret,
  findCallerRecord,
  listCallers,
  lockCaller,
  removesLastAdmin,
  renameCaller,
  revokeCaller,
  rotateCaller,
  type CallerKind,
  type CallerRecord,
} from '../../credentials/accounts/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  created,
  gone,
  isoTime,
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
import {
  ADMIN,
  askedOrganization,
  checkMayHandOut,
  lockReachedOrganization,
  mayReach,
} from './granted-organization.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest } from './page-query.ts';

type SecretField = 'token' | 'secret';

interface CallerKindRow<Field extends SecretField = SecretField> {
  readonly kind: CallerKind;
  readonly path: string;
  readonly saidAs: 'API account' | 'OAuth client';
  /** Name of the resource in the audit trail. */
  readonly target: string;
  /** The field with the secret. */
  readonly secretField: Field;
  /** The field with the time until which the previous secret is accepted. */
  readonly previousField: 'previousTokenUntil' | 'previousSecretUntil';
}

const account: CallerKindRow<'token'> = {
  kind: 'account',
  path: '/api-accounts',
  saidAs: 'API account',
  target: 'api-account',
  secretField: 'token',
  previousField: 'previousTokenUntil',
};
const client: CallerKindRow<'secret'> = {
  kind: 'client',
  path: '/oauth-clients',
  saidAs: 'OAuth client',
  target: 'oauth-client',
  secretField: 'secret',
  previousField: 'previousSecretUntil',
};

const DEFAULT_SCOPES = ['frontdoor.read', 'frontdoor.write'] as const;

type CallOfOne = Call<unknown, 'id'>;

export const callerHandlers: Handlers<
  CreationParts,
  | 'createApiAccount'
  | 'listApiAccounts'
  | 'getApiAccount'
  | 'changeApiAccount'
  | 'rotateApiAccount'
  | 'endPreviousToken'
  | 'deleteApiAccount'
  | 'createOauthClient'
  | 'listOauthClients'
  | 'getOauthClient'
  | 'changeOauthClient'
  | 'rotateOauthClient'
  | 'endPreviousSecret'
  | 'deleteOauthClient'
> = {
  createApiAccount: (parts, call) => create(parts, call, account),
  listApiAccounts: (parts, call) => list(parts, call, account),
  getApiAccount: (parts, call) => get(parts, call, account),
  changeApiAccount: (parts, call) => rename(parts, call, account),
  rotateApiAccount: (parts, call) => rotate(parts, call, account),
  endPreviousToken: (parts, call) => endPrevious(parts, call, account),
  deleteApiAccount: (parts, call) => revoke(parts, call, account),
  createOauthClient: (parts, call) => create(parts, call, client),
  listOauthClients: (parts, call) => list(parts, call, client),
  getOauthClient: (parts, call) => get(parts, call, client),
  changeOauthClient: (parts, call) => rename(parts, call, client),
  rotateOauthClient: (parts, call) => rotate(parts, call, client),
  endPreviousSecret: (parts, call) => endPrevious(parts, call, client),
  deleteOauthClient: (parts, call) => revoke(parts, call, client),
};

async function create<Field extends SecretField>(
  parts: CreationParts,
  call: Call<BodyOf<'createApiAccount' | 'createOauthClient'>>,
  row: CallerKindRow<Field>,
) {
  const { body } = call;
  const scopes = body.scopes ?? DEFAULT_SCOPES;
  const name = parseName(body.name)!;
  const make = async (trx: Queries, touch: Touch) => {
    const organization = await lockReachedOrganization(trx, call.principal, body.organizationId);
    checkMayHandOut(call.principal, scopes);
    const wanted = {
      kind: row.kind,
      name,
      organizationId: organization.id,
      scopes,
      nowMs: parts.clock.nowMs(),
    };
    const made = await createCaller(trx, touch, parts.secrets, wanted);
    return {
      result: made,
      target: { kind: row.target, id: made.caller.id },
      after: storedOf(row, made.caller, parts.clock.nowMs()),
      organizationId: organization.id,
    };
  };
  return creation(parts, call, make, ({ caller, secret }) => {
    const answer = created(parts, `${row.path}/${caller.id}`, withSecret(row, caller, secret));
    return tagged(parts, unstored(answer), storedOf(row, caller, parts.clock.nowMs()));
  });
}

async function list(parts: ChangeParts, call: Call, row: CallerKindRow) {
  const organizationId = await askedOrganization(parts.store.db, call);
  const request = parsePageRequest(call.query);
  const filter = listFilterOf(call.query);
  const page = await listCallers(parts.store.db, row.kind, organizationId, request, filter);
  const nowMs = parts.clock.nowMs();
  return ok(
    countedPageAnswer(
      request,
      page,
      page.content.map((caller) => answerOf(row, caller, nowMs)),
    ),
  );
}

async function get(parts: ChangeParts, call: CallOfOne, row: CallerKindRow) {
  const { id } = call.parameters;
  const caller = reached(call, await findCallerRecord(parts.store.db, row.kind, id), row);
  return answered(parts, row, caller);
}

async function rename(
  parts: ChangeParts,
  call: Call<BodyOf<'changeApiAccount' | 'changeOauthClient'>, 'id'>,
  row: CallerKindRow,
) {
  const { name } = call.body;
  const nowMs = parts.clock.nowMs();
  const after = await change(parts, call, async (trx, touch) => {
    const before = reached(call, await lockCaller(trx, row.kind, call.parameters.id), row);
    checkIfMatch(parts, call, storedOf(row, before, nowMs));
    const result =
      name === undefined ? before : await renameCaller(trx, touch, row.kind, before, parseName(name)!);
    return {
      result,
      target: { kind: row.target, id: before.id },
      before: storedOf(row, before, nowMs),
      after: storedOf(row, result, nowMs),
      organizationId: before.organizationId,
    };
  });
  return answered(parts, row, after);
}

async function rotate<Field extends SecretField>(
  parts: ChangeParts,
  call: Call<BodyOf<'rotateApiAccount' | 'rotateOauthClient'>, 'id'>,
  row: CallerKindRow<Field>,
) {
  const { id } = call.parameters;
  const { overlapSeconds = 0 } = call.body;
  const nowMs = parts.clock.nowMs();
  const make = async (trx: Queries, touch: Touch) => {
    const before = reached(call, await lockCaller(trx, row.kind, id), row);
    // The new secret gives access to all of its scopes.
    checkMayHandOut(call.principal, before.scopes);
    const previousUntilMs = overlapSeconds === 0 ? null : nowMs + overlapSeconds * 1_000;
    const newSecret = await rotateCaller(trx, touch, parts.secrets, row.kind, before.id, previousUntilMs);
    const rotated = { ...before, previousUntilMs };
    return {
      result: { caller: rotated, secret: newSecret },
      target: { kind: row.target, id: before.id },
      before: storedOf(row, before, nowMs),
      after: storedOf(row, rotated, nowMs),
      organizationId: before.organizationId,
    };
  };
  return creation(parts, call, make, ({ caller, secret }) => {
    const answer = ok({ ...withSecret(row, caller, secret), ...previousOf(row, caller, nowMs) });
    return tagged(parts, unstored(answer), storedOf(row, caller, nowMs));
  });
}

/** Ends the overlap of a rotation. Refuses if the old secret has already expired. */
async function endPrevious(
  parts: ChangeParts,
  call: CallOfOne,
  row: CallerKindRow,
): Promise<ApiAnswer<undefined>> {
  const { id } = call.parameters;
  const nowMs = parts.clock.nowMs();
  await change(parts, call, async (trx, touch) => {
    const before = reached(call, await lockCaller(trx, row.kind, id), row);
    if (before.previousUntilMs === null || before.previousUntilMs <= nowMs)
      throw notFound(`Previous ${row.secretField}`, id);
    checkMayHandOut(call.principal, before.scopes);
    await endPreviousSecret(trx, touch, row.kind, before.id);
    return {
      result: undefined,
      target: { kind: row.target, id: before.id },
      before: storedOf(row, before, nowMs),
      organizationId: before.organizationId,
    };
  });
  return gone;
}

async function revoke(
  parts: ChangeParts,
  call: CallOfOne,
  row: CallerKindRow,
): Promise<ApiAnswer<undefined>> {
  const { id } = call.parameters;
  await change(parts, call, async (trx, touch) => {
    const isLastAdmin =
      row.kind === 'account' && (await removesLastAdmin(trx, (each) => each.id === id.toLowerCase()));
    const before = reached(call, await lockCaller(trx, row.kind, id), row);
    if (before.scopes.includes(ADMIN)) checkMayHandOut(call.principal, [ADMIN]);
    checkIfMatch(parts, call, storedOf(row, before, parts.clock.nowMs()));
    if (isLastAdmin) {
      const message = 'The last API account with the scope frontdoor.admin must stay';
      throw new FrontdoorError('conflict', 'conflict', message);
    }
    await revokeCaller(trx, touch, row.kind, before.id, parts.clock.nowMs());
    return {
      result: undefined,
      target: { kind: row.target, id: before.id },
      before: storedOf(row, before, parts.clock.nowMs()),
      organizationId: before.organizationId,
    };
  });
  return gone;
}

/** Returns the caller that the call changes, if its organization is one that the principal may administer. */
function reached(call: CallOfOne, caller: CallerRecord | undefined, row: CallerKindRow): CallerRecord {
  const { id } = call.parameters;
  const isReached = caller !== undefined && mayReach(call.principal, caller.organizationId);
  return found(isReached ? caller : undefined, row, id);
}

function found(caller: CallerRecord | undefined, row: CallerKindRow, id: string): CallerRecord {
  if (caller === undefined) throw notFound(row.saidAs, id);
  return caller;
}

function answered(parts: ChangeParts, row: CallerKindRow, caller: CallerRecord) {
  const nowMs = parts.clock.nowMs();
  return tagged(parts, ok(answerOf(row, caller, nowMs)), storedOf(row, caller, nowMs));
}

function answerOf(row: CallerKindRow, caller: CallerRecord, nowMs: number) {
  const { lastUsedAtMs } = caller;
  return {
    ...storedOf(row, caller, nowMs),
    lastUsedAt: lastUsedAtMs === null ? null : isoTime(lastUsedAtMs),
  };
}

/** The fields that the entity tag and the audit trail have, without the last use. */
function storedOf(row: CallerKindRow, caller: CallerRecord, nowMs: number) {
  const { id, name, organizationId, scopes, createdAtMs } = caller;
  return {
    id,
    name,
    organizationId,
    scopes,
    createdAt: isoTime(createdAtMs),
    ...previousOf(row, caller, nowMs),
  };
}

function previousOf({ previousField }: CallerKindRow, { previousUntilMs }: CallerRecord, nowMs: number) {
  return previousUntilMs === null || previousUntilMs <= nowMs
    ? {}
    : { [previousField]: isoTime(previousUntilMs) };
}

type CallerWithSecretAnswer<Field extends SecretField> = Pick<
  CallerRecord,
  'id' | 'name' | 'organizationId' | 'scopes'
> & { readonly [Name in Field]: string };

function withSecret<Field extends SecretField>(
  row: CallerKindRow<Field>,
  caller: CallerRecord,
  secret: string,
): CallerWithSecretAnswer<Field> {
  const { id, name, organizationId, scopes } = caller;
  // TypeScript gives a computed name the type of an index signature.
  return { id, name, organizationId, scopes, [row.secretField]: secret } as CallerWithSecretAnswer<Field>;
}
