/**
 * Transit routers, which carry circuits between other routers and serve no clients. As with OpenZiti, the list has every
 * router, and edge routers are changed at their own path only. Unlike there, a PATCH and a PUT change cost, traversal and
 * use, too (OpenZiti 1.7.2 accepts and drops them).
 */
import { EdgeApiRefusal } from '../../overlay/clients/mod.ts';
import {
  deleteFabricNode,
  findEdgeEntity,
  findFabricNode,
  updateEdgeEntity,
} from '../../overlay/records/mod.ts';
import { flag, whole } from './body-fields.ts';
import { entityReader } from './body-reader.ts';
import { commonSymbols, entityView, type EntityForm } from './entity-form.ts';
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
  kind: 'transit-router',
  path: 'transit-routers',
  aliases: ['routers'],
  read: entityReader({ cost: whole(MAX_ROUTER_COST), noTraversal: flag(), disabled: flag() }),
  references: () => [],
  symbols: {
    ...commonSymbols,
    cost: { type: 'number', read: ({ data }) => Number(data['cost'] ?? 0) },
    noTraversal: { type: 'boolean', read: ({ data }) => data['noTraversal'] === true },
    disabled: { type: 'boolean', read: ({ data }) => data['disabled'] === true },
  },
  view: (model, { id, data }) => ({
    cost: data['cost'] ?? 0,
    disabled: data['disabled'] === true,
    fingerprint: model.identity(id)?.fingerprints.at(-1) ?? null,
    interfaces: null,
    isVerified: data['isVerified'] === true,
    noTraversal: data['noTraversal'] === true,
    unverifiedCertPem: null,
    unverifiedFingerprint: null,
  }),
};

export const transitRouterResource: EntityResource = {
  ...plainResource(form),
  // Read from the certificates of the router.
  moreFields: ['isVerified'],

  async all({ store, model }) {
    return (await routerNodes(store.db, model)).map((node) => {
      const kind = model.edge.hasEdge(node.id) ? 'edge-router' : 'transit-router';
      return routerRecord(node, kind, model.edge.get(kind, node.id));
    });
  },

  async find(db, id) {
    const node = await findFabricNode(db, 'router', id);
    if (node === undefined) return undefined;
    const kind = node.hasEdge ? 'edge-router' : 'transit-router';
    return routerRecord(node, kind, await findEdgeEntity(db, kind, id));
  },

  async viewer(parts) {
    const open = await openEnrollments(parts, 'router');
    const online = parts.overlay.mesh.onlineRouterIds();
    return (entity) => {
      const { id, kind } = entity;
      const enrollment = kind === 'transit-router' ? open.get(id) : undefined;
      return {
        ...entityView(form.path, entity),
        ...form.view(parts.model, entity),
        isOnline: online.has(id),
        ...routerEnrollmentView(parts, enrollment),
      };
    };
  },

  async insert(parts, { trx, touch }, entity) {
    await insertRouter(trx, touch, entity);
    await enrollAnew(parts, trx, 'transit-router', entity.id);
  },

  async update(_parts, { trx, touch }, entity) {
    if ((await findEdgeEntity(trx, 'transit-router', entity.id)) === undefined) throw notChangedHere();
    await renameRouter(trx, touch, entity);
    await updateEdgeEntity(trx, touch, entity);
  },

  async remove(_parts, { trx, touch }, { id }) {
    await deleteFabricNode(trx, touch, 'router', id);
  },
};

function notChangedHere(): EdgeApiRefusal {
  const message = 'The router was not added via the Edge API and cannot be updated';
  return new EdgeApiRefusal('conflict', 'CAN_NOT_UPDATE_ROUTER', message);
}
