/** Authentication policies: by which methods the identities that name one log in, and how their passwords have to be. */
import type { TProperties } from 'typebox';
import { isJsonObject, textsOf } from '#base';
import {
  endLogIns,
  endSessionsOf,
  invalidParameter,
  NONE_KEPT,
  type KeptLogIns,
} from '../../overlay/clients/mod.ts';
import {
  authPolicyIdOf,
  permitsExpired,
  permitsLogIn,
  requiredSignerOf,
  requiresTotp,
  type EdgeEntityRecord,
  type JsonObject,
} from '../../overlay/model/mod.ts';
import {
  expiredCertificates,
  findEdgeEntity,
  insertEdgeEntity,
  updateEdgeEntity,
} from '../../overlay/records/mod.ts';
import { identitiesWithTotp, userNames } from '../../credentials/identities/mod.ts';
import { flag, part, textOrNull, texts, whole } from './body-fields.ts';
import { entityReader } from './body-reader.ts';
import { commonSymbols, type EntityForm } from './entity-form.ts';
import {
  givenFields,
  plainResource,
  type EntityResource,
  type ManagementParts,
  type Writing,
} from './entity-resource.ts';

const MAX_PASSWORD_CHARS = 1_024;
const MAX_ATTEMPTS = 1_000;
/** A year. */
const MAX_LOCKOUT_MINUTES = 525_600;

/** Besides, wrong passwords are limited for each name and address, without a lock. */
const PASSWORD_RULES = {
  allowed: flag(),
  maxAttempts: whole(MAX_ATTEMPTS),
  lockoutDurationMinutes: whole(MAX_LOCKOUT_MINUTES),
  minPasswordLength: whole(MAX_PASSWORD_CHARS),
  requireMixedCase: flag(),
  requireNumberChar: flag(),
  requireSpecialChar: flag(),
};

const section = <F extends TProperties>(fields: F) => part(fields, { isUnnamed: true });

const authPolicyForm: EntityForm = {
  kind: 'auth-policy',
  path: 'auth-policies',
  read: entityReader({
    primary: section({
      cert: section({ allowed: flag(), allowExpiredCerts: flag() }),
      extJwt: section({ allowed: flag(), allowedSigners: texts() }),
      updb: section(PASSWORD_RULES),
    }),
    secondary: section({ requireTotp: flag(), requireExtJwtSigner: textOrNull() }),
  }),
  references: (data) => [
    {
      field: 'allowedSigners',
      kind: 'external-jwt-signer',
      ids: textsOf((data['primary'] as { extJwt: { allowedSigners: unknown } }).extJwt.allowedSigners),
    },
    {
      field: 'requireExtJwtSigner',
      kind: 'external-jwt-signer',
      ids: [requiredSignerOf({ data }) ?? []].flat(),
    },
  ],
  symbols: commonSymbols,
  view: (_model, { data }) => data,
};

export const authPolicyResource: EntityResource = {
  ...plainResource(authPolicyForm),
  merge: deepMerged,

  async update(parts, writing, entity) {
    const { trx, touch, actorId } = writing;
    const before = await findEdgeEntity(trx, 'auth-policy', entity.id);
    // The default policy has no row before its first change.
    await (before === undefined ? insertEdgeEntity : updateEdgeEntity)(trx, touch, entity);
    if (JSON.stringify(before?.data) === JSON.stringify(entity.data)) return;
    const holders = [...parts.model.edge.all('identity')].filter((one) => authPolicyIdOf(one) === entity.id);
    if (holders.some(({ id }) => id === actorId)) await checkWayBack(parts, trx, entity, actorId);
    await endForbiddenLogIns(parts, writing, entity, holders);
  },
  mayChangeBuiltIns: true,
};

/** Refuses a change after which the administrator who makes it could not log in to take it back. */
async function checkWayBack(
  { model }: ManagementParts,
  trx: Writing['trx'],
  policy: EdgeEntityRecord,
  actorId: string,
): Promise<void> {
  const hasPassword = (await userNames(trx, actorId)).length > 0;
  const hasCertificate = (model.identity(actorId)?.fingerprints ?? []).length > 0;
  const mayReturn =
    (hasPassword && permitsLogIn(policy, { method: 'password' })) ||
    (hasCertificate && permitsLogIn(policy, { method: 'cert' }));
  if (!mayReturn || requiresTotp(policy))
    throw invalidParameter(
      mayReturn ? 'secondary.requireTotp' : 'primary',
      'the administrator who makes this change could no longer log in',
      '',
    );
}

/** Ends the sessions that the policy would not have permitted, and those without the second factors that it demands. */
export async function endForbiddenLogIns(
  { clock }: ManagementParts,
  { trx, touch }: Writing,
  policy: EdgeEntityRecord,
  holders: readonly EdgeEntityRecord[],
): Promise<void> {
  const ids = holders.map(({ id }) => id);
  const nowMs = clock.nowMs();
  const signerId = requiredSignerOf(policy);
  const kept: KeptLogIns = {
    session: (way) =>
      permitsLogIn(policy, way) && (signerId === undefined || way.secondSignerId === signerId),
    // Each call of an administrator shows the token of a second signer.
    administrator: (method) => permitsLogIn(policy, { method }),
  };
  await endLogIns(trx, touch, ids, kept, nowMs);
  if (!permitsExpired(policy)) await endSessionsOf(trx, touch, await expiredOf(trx, ids, nowMs), nowMs);
  if (!requiresTotp(policy)) return;
  const enrolled = await identitiesWithTotp(trx);
  const bare = ids.filter((id) => !enrolled.has(id));
  await endLogIns(trx, touch, bare, NONE_KEPT, nowMs);
}

/** Returns the fingerprints of the identities' certificates that have expired. */
async function expiredOf(trx: Writing['trx'], ids: readonly string[], nowMs: number): Promise<string[]> {
  const holders = new Set(ids);
  const expired = await expiredCertificates(trx, nowMs);
  return expired.flatMap(({ fingerprint, identityId }) => (holders.has(identityId) ? [fingerprint] : []));
}

/** Objects of a change replace only the fields that they have. */
function deepMerged(before: JsonObject, change: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...before };
  for (const [field, value] of givenFields(change)) {
    const old = Object.hasOwn(before, field) ? before[field] : undefined;
    merged[field] = isJsonObject(value) && isJsonObject(old) ? deepMerged(old, value) : value;
  }
  return merged;
}
