/**
 * Edge routers: the installation's routers, with the attributes that router policies select them by. One that may use its
 * tunnel listener is an identity too (ADR 0041).
 */
import { isoTime, routerView } from '../edge-api/mod.ts';
import { isTunnelRouter, textsOf, type EdgeEntityRecord, type JsonObject } from '../model/mod.ts';
import {
  deleteFabricNode,
  findEdgeEntity,
  findFabricNode,
  insertEdgeEntity,
  updateEdgeEntity,
  type FabricNode,
  type Queries,
} from '../store/mod.ts';
import { entityView, MAX_FREE_CHARS, roleAttributeSymbols, type EntityForm } from './entity-form.ts';
import { plainResource, type EntityResource, type ManagementParts } from './entity-resource.ts';
import { enrollAnew, openEnrollments, tokenOf, type OpenEnrollment } from './enrollments.ts';

const MAX_COST = 65_535;

const form: EntityForm = {
  kind: 'edge-router',
  path: 'edge-routers',
  read(body) {
    return {
      roleAttributes: body.texts('roleAttributes'),
      appData: body.object('appData', MAX_FREE_CHARS),
      isTunnelerEnabled: body.flag('isTunnelerEnabled'),
      cost: body.whole('cost', MAX_COST),
      noTraversal: body.flag('noTraversal'),
      disabled: body.flag('disabled'),
    };
  },
  references: () => [],
  symbols: {
    ...roleAttributeSymbols,
    isVerified: { type: 'boolean', read: ({ data }) => data['isVerified'] === true },
    isTunnelerEnabled: { type: 'boolean', read: isTunnelRouter },
    cost: { type: 'number', read: ({ data }) => Number(data['cost'] ?? 0) },
    noTraversal: { type: 'boolean', read: ({ data }) => data['noTraversal'] === true },
    disabled: { type: 'boolean', read: ({ data }) => data['disabled'] === true },
  },
  view: (_model, router) => ({
    ...{ appData: router.data['appData'] ?? {}, roleAttributes: textsOf(router.data['roleAttributes']) },
    ...{
      cost: router.data['cost'] ?? 0,
      disabled: router.data['disabled'] === true,
      noTraversal: router.data['noTraversal'] === true,
      isTunnelerEnabled: isTunnelRouter(router),
      interfaces: null,
    },
    ...{
      isVerified: router.data['isVerified'] === true,
      versionInfo: null,
      fingerprint: null,
      certPem: null,
    },
  }),
};

export const edgeRouterResource: EntityResource = {
  ...plainResource(form),
  // Read from the certificates of the router.
  moreFields: ['isVerified'],

  async all({ store, model }) {
    const rows = await store.db
      .selectFrom('identity')
      .select(['id', 'name', 'created_at'])
      .where('kind', '=', 'router')
      .orderBy('name')
      .orderBy('id')
      .execute();
    return rows.map(({ id, name, created_at: createdAtMs }) => {
      const isEnrolled = (model.identity(id)?.fingerprints.length ?? 0) > 0;
      return recordOf({ id, name, createdAtMs, isEnrolled }, model.edge.get('edge-router', id));
    });
  },

  async find(db, id) {
    const node = await findFabricNode(db, 'router', id);
    return node === undefined ? undefined : recordOf(node, await findEdgeEntity(db, 'edge-router', id));
  },

  async viewer(parts) {
    const open = await openEnrollments(parts, 'router');
    const online = new Map(parts.routers().map((router) => [router.id, router]));
    return (entity) => {
      const router = online.get(entity.id);
      return {
        ...(router === undefined ? OFFLINE : routerView(router)),
        ...entityView('edge-routers', entity, ['edge-router-policies']),
        ...form.view(parts.model, entity),
        ...enrollmentView(parts, open.get(entity.id)),
      };
    };
  },

  async insert(parts, { trx, touch }, entity) {
    const { id, name, createdAtMs } = entity;
    const row = { id, kind: 'router', frontdoor_id: null, name, agent_version: null } as const;
    await trx
      .insertInto('identity')
      .values({ ...row, created_at: createdAtMs })
      .execute();
    await insertEdgeEntity(trx, touch, entity);
    await enrollAnew(parts, trx, 'router', id);
    touch('identity', id);
  },

  async update(_parts, { trx, touch }, entity) {
    const { id, name } = entity;
    await trx.updateTable('identity').set({ name }).where('id', '=', id).execute();
    if (await hasAttributes(trx, id)) await updateEdgeEntity(trx, touch, entity);
    else await insertEdgeEntity(trx, touch, entity);
    touch('identity', id);
  },

  async remove(_parts, { trx, touch }, { id }) {
    await deleteFabricNode(trx, touch, 'router', id);
  },
};

const OFFLINE = { hostname: '', isOnline: false, supportedProtocols: {}, syncStatus: 'SYNC_UNKNOWN' };

/** A router that was made elsewhere has no attributes. */
function recordOf(
  node: Omit<FabricNode, 'isTunneler' | 'roleAttributes' | 'version'>,
  attributes: EdgeEntityRecord | undefined,
): EdgeEntityRecord {
  const { id, name, createdAtMs, isEnrolled: isVerified } = node;
  return {
    ...{ id, name, createdAtMs, kind: 'edge-router', tags: attributes?.tags ?? {} },
    data: { ...attributes?.data, isVerified },
    updatedAtMs: attributes?.updatedAtMs ?? createdAtMs,
  };
}

async function hasAttributes(db: Queries, id: string): Promise<boolean> {
  return (await findEdgeEntity(db, 'edge-router', id)) !== undefined;
}

function enrollmentView(parts: ManagementParts, open: OpenEnrollment | undefined): JsonObject {
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
