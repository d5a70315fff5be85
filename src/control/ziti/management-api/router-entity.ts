/** What edge routers and transit routers have in common: a row among identities, and an enrollment until they have used it. */
import { invalidParameter } from '../../overlay/clients/mod.ts';
import { isoTime } from '../client-api/service-view.ts';
import type { EdgeEntityRecord, JsonObject, OverlayModel } from '../../overlay/model/mod.ts';
import {
  identitiesOfKind,
  insertEdgeEntity,
  insertIdentity,
  isEdgeNameTaken,
  renameIdentity,
  type FabricNode,
} from '../../overlay/records/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import type { ManagementParts } from './entity-resource.ts';
import { tokenOf, type EdgeEnrollment } from './enrollments.ts';

export const MAX_ROUTER_COST = 65_535;

type RouterNode = Pick<FabricNode, 'id' | 'name' | 'createdAtMs' | 'isEnrolled'>;

/** All routers by name, wherever they were made. */
export async function routerNodes(db: Queries, model: OverlayModel): Promise<RouterNode[]> {
  const routers = await identitiesOfKind(db, 'router');
  return routers.map(({ id, name, createdAtMs }) => {
    const isEnrolled = (model.identity(id)?.fingerprints.length ?? 0) > 0;
    return { id, name, createdAtMs, isEnrolled };
  });
}

/** A router that was made elsewhere has no attributes. */
export function routerRecord(
  { id, name, createdAtMs, isEnrolled: isVerified }: RouterNode,
  kind: 'edge-router' | 'transit-router',
  attributes: EdgeEntityRecord | undefined,
): EdgeEntityRecord {
  return {
    id,
    name,
    createdAtMs,
    kind,
    tags: attributes?.tags ?? {},
    data: { ...attributes?.data, isVerified },
    updatedAtMs: attributes?.updatedAtMs ?? createdAtMs,
  };
}

export async function insertRouter(trx: Queries, touch: Touch, entity: EdgeEntityRecord): Promise<void> {
  const { id, name, createdAtMs } = entity;
  await checkName(trx, entity);
  await insertIdentity(trx, touch, { id, kind: 'router', name, createdAtMs });
  await insertEdgeEntity(trx, touch, entity);
}

export async function renameRouter(trx: Queries, touch: Touch, entity: EdgeEntityRecord): Promise<void> {
  const { id, name } = entity;
  await checkName(trx, entity);
  await renameIdentity(trx, touch, id, name);
}

/** Names are unique among routers of both kinds that have a row here. Others have names of the Management API. */
async function checkName(trx: Queries, { kind, name }: EdgeEntityRecord): Promise<void> {
  const other = kind === 'edge-router' ? 'transit-router' : 'edge-router';
  if (await isEdgeNameTaken(trx, other, name))
    throw invalidParameter('name', `duplicate value '${name}' in unique index on routers store`, name);
}

/** The open enrollment of a router, in the fields that answers about both kinds have. */
export function routerEnrollmentView(parts: ManagementParts, open: EdgeEnrollment | undefined): JsonObject {
  if (open === undefined)
    return {
      enrollmentJwt: null,
      enrollmentToken: null,
      enrollmentExpiresAt: null,
      enrollmentCreatedAt: null,
    };
  const { token, jwt } = tokenOf(parts, open);
  return {
    enrollmentJwt: jwt,
    enrollmentToken: token,
    enrollmentExpiresAt: isoTime(open.expiresAtMs),
    enrollmentCreatedAt: isoTime(open.createdAtMs),
  };
}
