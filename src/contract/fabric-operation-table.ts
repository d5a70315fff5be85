/**
 * Operations on routers and gateways, which belong to the installation and to no organization. Operations on
 * links, circuits and terminators are in `mesh-operation-table.ts`.
 */
import { routerSchema } from './schemas/fabric-schemas.ts';
import {
  countedPageSchema,
  fabricNodeSchema,
  fabricNodeTokenSchema,
  newFabricNodeSchema,
  newRouterSchema,
  routerChangeSchema,
} from './schemas/resource-schemas.ts';
import { byName, byTime } from './list-filter-table.ts';
import { created, gone, guarded, ok, paging, showing } from './operation.ts';

const group = 'Fabric';
const scope = 'frontdoor.admin';
const creation = {
  group,
  method: 'POST',
  scope,
  isLimitedByAddress: true,
  body: newFabricNodeSchema,
  answer: showing('token', created(fabricNodeTokenSchema)),
} as const;
const list = {
  group,
  method: 'GET',
  scope,
  query: [...paging('name', 'id', 'createdAt'), byName, ...byTime],
} as const;
const deletion = { group, method: 'DELETE', scope, answer: gone, refusals: [404] } as const;

export const fabricOperations = [
  guarded({
    ...creation,
    body: newRouterSchema,
    id: 'createRouter',
    summary: 'Create a router, with the JWT that it enrolls with',
    path: '/fabric/routers',
  }),
  guarded({
    ...list,
    id: 'listRouters',
    summary: 'List routers and whether they are connected',
    path: '/fabric/routers',
    answer: ok(countedPageSchema(routerSchema)),
  }),
  guarded({
    group,
    scope,
    id: 'getRouter',
    summary: 'Get a router',
    method: 'GET',
    path: '/fabric/routers/{id}',
    answer: ok(routerSchema),
    refusals: [404],
  }),
  guarded({
    group,
    scope,
    id: 'changeRouter',
    summary:
      'Change the role attributes by which policies select a router, and whether it can tunnel; circuits that are no longer allowed are closed',
    method: 'PATCH',
    path: '/fabric/routers/{id}',
    body: routerChangeSchema,
    answer: ok(routerSchema),
    refusals: [404, 409],
  }),
  guarded({
    ...deletion,
    id: 'deleteRouter',
    summary: 'Delete a router with its terminators; its connections end',
    path: '/fabric/routers/{id}',
  }),
  guarded({
    ...creation,
    id: 'createGateway',
    summary: 'Create a gateway, with the JWT that it enrolls with',
    path: '/fabric/gateways',
  }),
  guarded({
    ...list,
    id: 'listGateways',
    summary: 'List gateways',
    path: '/fabric/gateways',
    answer: ok(countedPageSchema(fabricNodeSchema)),
  }),
  guarded({
    group,
    scope,
    id: 'getGateway',
    summary: 'Get a gateway',
    method: 'GET',
    path: '/fabric/gateways/{id}',
    answer: ok(fabricNodeSchema),
    refusals: [404],
  }),
  guarded({
    ...deletion,
    id: 'deleteGateway',
    summary: 'Delete a gateway; its connections end',
    path: '/fabric/gateways/{id}',
  }),
] as const;
