/** Routers and gateways: identities of the installation, which belong to no organization. */
import { randomUUID } from 'node:crypto';
import { textsOf } from '#base';
import { readJsonObject } from '#base/shapes';
import { readAlone } from '#net';
import {
  countedPage,
  narrowed,
  type ListFilter,
  type Page,
  type PageRequest,
  type Queries,
  type Touch,
} from '../../store/mod.ts';
import { findEdgeEntity, insertEdgeEntity, lockEdgeEntities, updateEdgeEntity } from './edge-entity-store.ts';
import { insertIdentity } from './identity-store.ts';

export type FabricKind = 'router' | 'gateway';

export interface FabricNode {
  readonly id: string;
  readonly name: string;
  /** Whether it holds a certificate. */
  readonly isEnrolled: boolean;
  /** Whether clients may connect to it: false for transit routers. */
  readonly hasEdge: boolean;
  /** Whether its tunnel listeners may host and dial services (ADR 0041). */
  readonly isTunneler: boolean;
  /** By which policies of the edge management API select it. */
  readonly roleAttributes: readonly string[];
  /** The version of its program at its last log-in. Routers do not log in. */
  readonly version: string | null;
  readonly createdAtMs: number;
}

export interface NewFabricNode {
  readonly kind: FabricKind;
  readonly name: string;
  /** Makes a router an identity of the edge management API, too. */
  readonly isTunneler?: boolean | undefined;
  readonly roleAttributes?: readonly string[] | undefined;
  readonly nowMs: number;
}

/** Fields that are absent stay as they are. */
export type RouterAttributeChange = Pick<NewFabricNode, 'isTunneler' | 'roleAttributes' | 'nowMs'>;

export async function createFabricNode(
  trx: Queries,
  touch: Touch,
  wanted: NewFabricNode,
): Promise<FabricNode> {
  const id = randomUUID();
  const { name, isTunneler = false, nowMs } = wanted;
  const roleAttributes = [...new Set(wanted.roleAttributes)];
  const hasAttributes = isTunneler || roleAttributes.length > 0;
  if (hasAttributes) await lockEdgeEntities(trx);
  await insertIdentity(trx, touch, { id, kind: wanted.kind, name, createdAtMs: nowMs });
  if (hasAttributes) {
    const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
    const data = { isTunnelerEnabled: isTunneler, roleAttributes };
    await insertEdgeEntity(trx, touch, { id, kind: 'edge-router', name, data, tags: {}, ...times });
  }
  const state = { isEnrolled: false, hasEdge: true, version: null };
  return { ...state, id, name, isTunneler, roleAttributes, createdAtMs: nowMs };
}

/** Call `lockEdgeEntities` before the router is read. It must have an edge. */
export async function changeFabricRouter(
  trx: Queries,
  touch: Touch,
  router: FabricNode,
  { isTunneler = router.isTunneler, roleAttributes = router.roleAttributes, nowMs }: RouterAttributeChange,
): Promise<FabricNode> {
  const { id, name, createdAtMs } = router;
  const changed = { isTunneler, roleAttributes: [...new Set(roleAttributes)] };
  const former = await findEdgeEntity(trx, 'edge-router', id);
  const data = {
    ...former?.data,
    isTunnelerEnabled: isTunneler,
    roleAttributes: changed.roleAttributes,
  };
  const entity = {
    id,
    name,
    kind: 'edge-router' as const,
    tags: former?.tags ?? {},
    createdAtMs,
    data,
    updatedAtMs: nowMs,
  };
  await (former === undefined ? insertEdgeEntity : updateEdgeEntity)(trx, touch, entity);
  touch('identity', id);
  return { ...router, ...changed };
}

export async function listFabricNodes(
  db: Queries,
  kind: FabricKind,
  request: PageRequest,
  filter: ListFilter,
): Promise<Page<FabricNode>> {
  const { content, total } = await countedPage(narrowed(nodeRows(db, kind), filter), request);
  return { content: content.map(nodeOf), total };
}

export async function findFabricNode(
  db: Queries,
  kind: FabricKind,
  id: string,
): Promise<FabricNode | undefined> {
  const row = await nodeRows(db, kind).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : nodeOf(row);
}

function nodeRows(db: Queries, kind: FabricKind) {
  return db
    .selectFrom('identity')
    .where('kind', '=', kind)
    .select((eb) => [
      'id',
      'name',
      'created_at',
      eb
        .selectFrom('certificate')
        .select((inner) => inner.fn.countAll<number>().as('certificates'))
        .whereRef('certificate.identity_id', '=', 'identity.id')
        .as('certificates'),
      eb
        .selectFrom('edge_entity')
        .select('edge_entity.data')
        .whereRef('edge_entity.id', '=', 'identity.id')
        .as('attributes'),
      eb
        .selectFrom('edge_entity')
        .select('edge_entity.kind')
        .whereRef('edge_entity.id', '=', 'identity.id')
        .as('entity_kind'),
      eb
        .selectFrom('identity_client')
        .select('identity_client.sdk_info')
        .whereRef('identity_client.identity_id', '=', 'identity.id')
        .as('program'),
    ]);
}

function nodeOf(row: Awaited<ReturnType<ReturnType<typeof nodeRows>['execute']>>[number]): FabricNode {
  return {
    id: row.id,
    name: row.name,
    isEnrolled: (row.certificates ?? 0) > 0,
    hasEdge: row.entity_kind !== 'transit-router',
    ...attributesOf(partOf(row.id, row.attributes)),
    version: versionOf(partOf(row.id, row.program)),
    createdAtMs: row.created_at,
  };
}

/** A text that is damaged is treated as missing, so that its node can still be listed and deleted. */
function partOf(id: string, json: string | null): Readonly<Record<string, unknown>> {
  if (json === null) return {};
  return readAlone(`the node ${id} of the store`, () => readJsonObject(json)) ?? {};
}

/** From what its program reported about itself. */
function versionOf({ version }: Readonly<Record<string, unknown>>): string | null {
  return typeof version === 'string' ? version : null;
}

/** From the attributes of the edge management API. */
function attributesOf({
  isTunnelerEnabled,
  roleAttributes,
}: Readonly<Record<string, unknown>>): Pick<FabricNode, 'isTunneler' | 'roleAttributes'> {
  return { isTunneler: isTunnelerEnabled === true, roleAttributes: textsOf(roleAttributes) };
}

/** Deletes it with its certificates, terminators and open enrollments. Returns false if it does not exist. */
export async function deleteFabricNode(
  trx: Queries,
  touch: Touch,
  kind: FabricKind,
  id: string,
): Promise<boolean> {
  const removed = await trx
    .deleteFrom('identity')
    .where('id', '=', id)
    .where('kind', '=', kind)
    .returning('id')
    .execute();
  if (removed.length === 0) return false;
  await trx.deleteFrom('enrollment').where('identity_id', '=', id).execute();
  const attributes = await trx.deleteFrom('edge_entity').where('id', '=', id).returning('id').execute();
  touch('identity', id);
  if (attributes.length > 0) touch('edge-entity', id);
  return true;
}
