/** Identities: their row in `identity`, with certificates and sessions, and their enrollment. */
import { couldNotValidate, invalidParameter, isUsername, passwordAuthenticatorId } from '../edge-api/mod.ts';
import { textsOf, type EdgeEntityRecord, type JsonObject } from '../model/mod.ts';
import { insertEdgeEntity, updateEdgeEntity } from '../store/mod.ts';
import { entityView } from './entity-form.ts';
import { plainResource, type EntityResource, type ManagementParts } from './entity-resource.ts';
import { enrollAnew, enrollmentView, openEnrollments } from './enrollments.ts';
import { identityForm } from './identity-form.ts';

const LINKS = ['edge-router-policies', 'edge-routers', 'enrollments', 'service-policies', 'services'];

export const identityResource: EntityResource = {
  ...plainResource(identityForm),
  moreFields: ['enrollment'],

  async viewer(parts) {
    const open = await openEnrollments(parts, 'edge');
    const openPasswords = await openEnrollments(parts, 'edge-password');
    const usernames = await usernamesOf(parts);
    const withSession = new Set(Array.from(parts.sessions.all(), ({ identityId }) => identityId));
    return (entity) => {
      const { id } = entity;
      const [ott, updb] = [open.get(id), openPasswords.get(id)];
      const isConnected = parts.status.isConnected(id);
      return {
        ...entityView('identities', entity, LINKS),
        ...identityForm.view(parts.model, entity),
        authenticators: authenticatorsOf(parts, id, usernames.get(id)),
        enrollment: {
          ...(ott === undefined ? {} : { ott: enrollmentView(parts, 'edge', ott) }),
          ...(updb === undefined ? {} : { updb: enrollmentView(parts, 'edge-password', updb) }),
        },
        edgeRouterConnectionStatus: isConnected ? 'online' : 'offline',
        hasEdgeRouterConnection: isConnected,
        hasApiSession: withSession.has(id),
      };
    };
  },

  async insert(parts, { trx, touch }, entity, { enrollment }) {
    const { id, name, createdAtMs } = entity;
    const row = { id, kind: 'edge', frontdoor_id: null, name, agent_version: null } as const;
    await trx
      .insertInto('identity')
      .values({ ...row, created_at: createdAtMs })
      .execute();
    await insertEdgeEntity(trx, touch, entity);
    const wanted = wantedEnrollment(enrollment);
    if (wanted?.username !== undefined)
      await enrollAnew(parts, trx, 'edge-password', id, { username: wanted.username });
    else if (wanted !== undefined) await enrollAnew(parts, trx, 'edge', id);
    touch('identity', id);
  },

  async update(_parts, { trx, touch }, entity) {
    const { id, name } = entity;
    await trx.updateTable('identity').set({ name }).where('id', '=', id).execute();
    await updateEdgeEntity(trx, touch, entity);
    touch('identity', id);
  },

  async remove(_parts, { trx, touch }, { id }) {
    await trx.deleteFrom('identity').where('id', '=', id).where('kind', '=', 'edge').execute();
    await trx.deleteFrom('enrollment').where('identity_id', '=', id).execute();
    touch('identity', id);
  },
};

/**
 * Reads `enrollment` of a new identity: `ott` gives it a certificate, `updb` a password for that user name. Returns
 * undefined for neither. The other methods need authorities that are given elsewhere.
 */
function wantedEnrollment(enrollment: unknown): { readonly username?: string } | undefined {
  if (enrollment === undefined || enrollment === null) return undefined;
  if (typeof enrollment !== 'object') throw couldNotValidate('enrollment is not an object');
  const { ott, updb, ...others } = enrollment as JsonObject;
  const isGiven = (value: unknown) => value !== null && value !== undefined && value !== '';
  const other = Object.entries(others).find(([, value]) => isGiven(value));
  if (other !== undefined)
    throw invalidParameter('enrollment', `enrollment by ${other[0]} is not supported`, other[0]);
  if (!isGiven(updb)) return ott === true ? {} : undefined;
  if (ott === true) throw invalidParameter('enrollment', 'an identity enrolls by ott or by updb', 'updb');
  if (!isUsername(updb))
    throw invalidParameter('enrollment', 'updb is no user name', String(updb).slice(0, 100));
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
