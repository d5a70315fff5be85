/** Identities: their row in `identity`, with certificates and sessions, and their enrollment. */
import { couldNotValidate, invalidParameter } from '../edge-api/mod.ts';
import { textsOf, type EdgeEntityRecord, type JsonObject } from '../model/mod.ts';
import { insertEdgeEntity, updateEdgeEntity } from '../store/mod.ts';
import { entityView } from './entity-form.ts';
import { plainResource, type EntityResource, type ManagementParts } from './entity-resource.ts';
import { enrollAnew, openEnrollments, ottView } from './enrollments.ts';
import { identityForm } from './identity-form.ts';

const LINKS = ['edge-router-policies', 'edge-routers', 'enrollments', 'service-policies', 'services'];

export const identityResource: EntityResource = {
  ...plainResource(identityForm),
  moreFields: ['enrollment'],

  async viewer(parts) {
    const open = await openEnrollments(parts, 'edge');
    const withSession = new Set(Array.from(parts.sessions.all(), ({ identityId }) => identityId));
    return (entity) => {
      const { id } = entity;
      const enrollment = open.get(id);
      const isConnected = parts.status.isConnected(id);
      return {
        ...entityView('identities', entity, LINKS),
        ...identityForm.view(parts.model, entity),
        authenticators: authenticatorsOf(parts, id),
        enrollment: enrollment === undefined ? {} : { ott: ottView(parts, enrollment) },
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
    if (wantsEnrollment(enrollment)) await enrollAnew(parts, trx, 'edge', id);
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

/** The methods besides `ott` need authorities or passwords that are given elsewhere. */
function wantsEnrollment(enrollment: unknown): boolean {
  if (enrollment === undefined || enrollment === null) return false;
  if (typeof enrollment !== 'object') throw couldNotValidate('enrollment is not an object');
  const { ott, ...others } = enrollment as JsonObject;
  const other = Object.entries(others).find(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  if (other !== undefined)
    throw invalidParameter('enrollment', `enrollment by ${other[0]} is not supported`, other[0]);
  return ott === true;
}

function authenticatorsOf({ model }: ManagementParts, id: string): JsonObject {
  const [fingerprint] = model.identity(id)?.fingerprints ?? [];
  return fingerprint === undefined ? {} : { cert: { id: fingerprint, fingerprint } };
}

/** The attributes that identities have, for lists of them. */
export function roleAttributesOf(entities: Iterable<EdgeEntityRecord>): string[] {
  const found = new Set<string>();
  for (const { data } of entities) for (const one of textsOf(data['roleAttributes'])) found.add(one);
  return [...found].sort();
}
