/**
 * Edge routers: the installation's routers, with the attributes that router policies select them by. One that may use its
 * tunnel listener is an identity too (ADR 0041).
 */
import { textsOf } from '#base';
import { routerView } from '../client-api/service-view.ts';
import { isTunnelRouter } from '../../overlay/model/mod.ts';
import {
  deleteFabricNode,
  findEdgeEntity,
  findFabricNode,
  insertEdgeEntity,
  updateEdgeEntity,
} from '../../overlay/records/mod.ts';
import type { Queries } from '../../store/mod.ts';
import { flag, freeObject, texts, whole } from './body-fields.ts';
import { entityReader, MAX_FREE_CHARS } from './body-reader.ts';
import { entityView, roleAttributeSymbols, type EntityForm } from './entity-form.ts';
import { plainResource, type EntityResource } from './entity-resource.ts';
import { enrollAnew, openEnrollments } from './enrollments.ts';
import {
  insertRouter,
  MAX_ROUTER_COST,
  renameRouter,
  routerEnrollmentView,
  routerNodes,
  routerRecord,
} from './router-entity.ts';

const form: EntityForm = {
  kind: 'edge-router',
  path: 'edge-routers',
  read: entityReader({
    roleAttributes: texts(),
    appData: freeObject(MAX_FREE_CHARS),
    isTunnelerEnabled: flag(),
    cost: whole(MAX_ROUTER_COST),
    noTraversal: flag(),
    disabled: flag(),
  }),
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
    appData: router.data['appData'] ?? {},
    roleAttributes: textsOf(router.data['roleAttributes']),
    cost: router.data['cost'] ?? 0,
    disabled: router.data['disabled'] === true,
    noTraversal: router.data['noTraversal'] === true,
    isTunnelerEnabled: isTunnelRouter(router),
    interfaces: null,
    isVerified: router.data['isVerified'] === true,
    versionInfo: null,
    fingerprint: null,
    certPem: null,
  }),
};

export const edgeRouterResource: EntityResource = {
  ...plainResource(form),
  // Read from the certificates of the router.
  moreFields: ['isVerified'],

  async all({ store, model }) {
    const nodes = await routerNodes(store.db, model);
    return nodes
      .filter(({ id }) => model.edge.hasEdge(id))
      .map((node) => routerRecord(node, 'edge-router', model.edge.get('edge-router', node.id)));
  },

  async find(db, id) {
    const node = await findFabricNode(db, 'router', id);
    if (node?.hasEdge !== true) return undefined;
    return routerRecord(node, 'edge-router', await findEdgeEntity(db, 'edge-router', id));
  },

  async viewer(parts) {
    const open = await openEnrollments(parts, 'router');
    const online = new Map(parts.mesh.routers().map((router) => [router.id, router]));
    return (entity) => {
      const router = online.get(entity.id);
      return {
        ...(router === undefined ? OFFLINE : routerView(router)),
        ...entityView('edge-routers', entity, ['edge-router-policies']),
        ...form.view(parts.model, entity),
        ...routerEnrollmentView(parts, open.get(entity.id)),
      };
    };
  },

  async insert(parts, { trx, touch }, entity) {
    await insertRouter(trx, touch, entity);
    await enrollAnew(parts, trx, 'router', entity.id);
  },

  async update(_parts, { trx, touch }, entity) {
    const { id } = entity;
    await renameRouter(trx, touch, entity);
    if (await hasAttributes(trx, id)) await updateEdgeEntity(trx, touch, entity);
    else await insertEdgeEntity(trx, touch, entity);
  },

  async remove(_parts, { trx, touch }, { id }) {
    await deleteFabricNode(trx, touch, 'router', id);
  },
};

const OFFLINE = { hostname: '', isOnline: false, supportedProtocols: {}, syncStatus: 'SYNC_UNKNOWN' };

async function hasAttributes(db: Queries, id: string): Promise<boolean> {
  return (await findEdgeEntity(db, 'edge-router', id)) !== undefined;
}
