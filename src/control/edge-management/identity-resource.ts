/** Identities: their row in `identity`, with certificates and sessions, and their enrollment. */
import { couldNotValidate, invalidParameter, isUsername, passwordAuthenticatorId } from '../edge-api/mod.ts';
import { authPolicyIdOf, textsOf, type EdgeEntityRecord, type JsonObject } from '../model/mod.ts';
import { findEdgeEntity, insertEdgeIdentity, updateEdgeEntity, type Queries } from '../store/mod.ts';
import { endForbiddenLogIns } from './auth-policy-resource.ts';
import { entityView } from './entity-form.ts';
import { plainResource, type EntityResource, type ManagementParts } from './entity-resource.ts';
import { enrollAnew, enrollmentsView, openEnrollments, type NewEnrollmentOptions } from './enrollments.ts';
import { identityForm } from './identity-form.ts';

const MAX_QUOTED_CHARS = 100;
const LINKS = ['edge-router-policies', 'edge-routers', 'enrollments', 'service-policies', 'services'];

export const identityResource: EntityResource = {
  ...plainResource(identityForm),
  moreFields: ['enrollment'],

  async viewer(parts) {
    const open = await openEnrollments(parts, 'identity');
    const usernames = await usernamesOf(parts);
    const withSession = new Set(Array.from(parts.sessions.all(), ({ identityId }) => identityId));
    return (entity) => {
      const { id } = entity;
      const isConnected = parts.status.isConnected(id);
      return {
        ...entityView('identities', entity, LINKS),
        ...identityForm.view(parts.model, entity),
        authenticators: authenticatorsOf(parts, id, usernames.get(id)),
        enrollment: enrollmentsView(parts, open.get(id)),
        edgeRouterConnectionStatus: isConnected ? 'online' : 'offline',
        hasEdgeRouterConnection: isConnected,
        hasApiSession: withSession.has(id),
      };
    };
  },

  async insert(parts, { trx, touch }, entity, { enrollment }) {
    const { id } = entity;
    await insertEdgeIdentity(trx, touch, entity);
    const wanted = wantedEnrollment(enrollment);
    if (wanted?.authorityId !== undefined) await checkAuthority(trx, 'enrollment', wanted.authorityId);
    if (wanted !== undefined) await enrollAnew(parts, trx, 'edge', id, wanted);
  },

  async update(parts, writing, entity) {
    const { trx, touch } = writing;
    const { id, name } = entity;
    await trx.updateTable('identity').set({ name }).where('id', '=', id).execute();
    const before = await findEdgeEntity(trx, 'identity', id);
    const policyId = authPolicyIdOf(entity);
    if (before !== undefined && authPolicyIdOf(before) !== policyId) {
      const policy = await findEdgeEntity(trx, 'auth-policy', policyId);
      // The built-in one permits everything.
      if (policy !== undefined) await endForbiddenLogIns(parts, writing, policy, [entity]);
    }
    await updateEdgeEntity(trx, touch, entity);
    touch('identity', id);
  },

  async remove(_parts, { trx, touch }, { id }) {
    await trx.deleteFrom('identity').where('id', '=', id).where('kind', '=', 'edge').execute();
    await trx.deleteFrom('enrollment').where('identity_id', '=', id).execute();
    touch('identity', id);
  },
};

/** An identity can only wait for a certificate of an authority that exists. Throws if there is none. */
export async function checkAuthority(trx: Queries, field: string, id: string): Promise<void> {
  if ((await findEdgeEntity(trx, 'ca', id)) === undefined)
    throw invalidParameter(field, `no ca found with ids [${id}]`, id);
}

/**
 * Reads `enrollment` of a new identity: `ott` gives it a certificate, `ottca` one that an authority of another party issued,
 * `updb` a password for that user name. Returns undefined for none of them.
 */
function wantedEnrollment(enrollment: unknown): NewEnrollmentOptions | undefined {
  if (enrollment === undefined || enrollment === null) return undefined;
  if (typeof enrollment !== 'object') throw couldNotValidate('enrollment is not an object');
  const { ott, ottca, updb, ...others } = enrollment as JsonObject;
  const isGiven = (value: unknown) =>
    value !== null && value !== undefined && value !== '' && value !== false;
  const other = Object.entries(others).find(([, value]) => isGiven(value));
  if (other !== undefined)
    throw invalidParameter('enrollment', `enrollment by ${other[0]} is not supported`, other[0]);
  if ([ott, ottca, updb].filter(isGiven).length > 1)
    throw invalidParameter('enrollment', 'an identity enrolls by one of ott, ottca and updb', '');
  if (isGiven(ottca)) return { authorityId: String(ottca).slice(0, MAX_QUOTED_CHARS) };
  if (!isGiven(updb)) return ott === true ? {} : undefined;
  if (!isUsername(updb))
    throw invalidParameter('enrollment', 'updb is no user name', String(updb).slice(0, MAX_QUOTED_CHARS));
  return { username: updb };
}

async function usernamesOf({ store }: ManagementParts): Promise<ReadonlyMap<string, string>> {
  const rows = await store.db.selectFrom('identity_password').select(['identity_id', 'username']).execute();
  return new Map(rows.map((row) => [row.identity_id, row.username]));
}

function authenticatorsOf({ model }: ManagementParts, id: string, username: string | undefined): JsonObject {
  const [fingerprint] = model.identity(id)?.fingerprints ?? [];
  return {
    ...(fingerprint === undefined ? {} : { cert: { id: fingerprint, fingerprint } }),
    ...(username === undefined ? {} : { updb: { id: passwordAuthenticatorId({ id }), username } }),
  };
}

/** The attributes that identities have, for lists of them. */
export function roleAttributesOf(entities: Iterable<EdgeEntityRecord>): string[] {
  const found = new Set<string>();
  for (const { data } of entities) for (const one of textsOf(data['roleAttributes'])) found.add(one);
  return [...found].sort();
}
