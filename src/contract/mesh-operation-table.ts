/**
 * Operations on the mesh of routers: links, circuits, fabric services, terminators, inspections. Links and
 * circuits are kept in memory, so each control plane returns its own.
 */
import {
  fabricCircuitSchema,
  fabricLinkSchema,
  fabricRouteSchema,
  fabricServiceChangeSchema,
  fabricServiceSchema,
  fabricTerminatorChangeSchema,
  fabricTerminatorSchema,
  inspectionRequestSchema,
  inspectionSchema,
  meshSchema,
  newFabricServiceSchema,
  newFabricTerminatorSchema,
} from './schemas/fabric-schemas.ts';
import { countedPageSchema } from './schemas/resource-schemas.ts';
import { byName, byTime } from './list-filter-table.ts';
import { created, gone, guarded, ok, paging, type QueryParameter } from './operation.ts';

const group = 'Fabric';
const scope = 'frontdoor.admin';
const admin = { group, scope } as const;

const filter = (name: string, summary: string): QueryParameter => ({
  name,
  type: 'string',
  isRequired: false,
  summary,
});
const byRouter = filter('routerId', 'Only entries of this router');
const byService = filter('serviceId', 'Only entries of this service');

export const meshOperations = [
  guarded({
    ...admin,
    id: 'listLinks',
    summary: 'List the links between routers that this control plane knows',
    method: 'GET',
    path: '/fabric/links',
    query: [...paging('id', 'cost'), byRouter],
    answer: ok(countedPageSchema(fabricLinkSchema)),
  }),
  guarded({
    ...admin,
    id: 'getMesh',
    summary: 'Get routers, links and services with their terminators as of one moment',
    method: 'GET',
    path: '/fabric/mesh',
    answer: ok(meshSchema),
  }),
  guarded({
    ...admin,
    id: 'getRoute',
    summary: 'Show the path a circuit from a router to a service would take, and why (dry run)',
    method: 'GET',
    path: '/fabric/route',
    query: [
      { ...filter('routerId', 'The router at which the circuit starts'), isRequired: true },
      { ...filter('serviceId', 'The service, or the ID of the service behind a share'), isRequired: true },
      filter('instanceId', 'Only terminators of this instance; by default those without one'),
    ],
    answer: ok(fabricRouteSchema),
    refusals: [404],
  }),
  guarded({
    ...admin,
    id: 'listCircuits',
    summary: 'List the circuits that this control plane created',
    method: 'GET',
    path: '/fabric/circuits',
    query: [...paging('id', 'createdAt'), byRouter, byService],
    answer: ok(countedPageSchema(fabricCircuitSchema)),
  }),
  guarded({
    ...admin,
    id: 'endCircuit',
    summary: 'Close a circuit of this control plane; both ends are notified immediately',
    method: 'DELETE',
    path: '/fabric/circuits/{id}',
    answer: gone,
    refusals: [404],
  }),
  guarded({
    ...admin,
    id: 'listFabricServices',
    summary: 'List fabric services, which are dialed and terminated by routers',
    method: 'GET',
    path: '/fabric/services',
    query: [...paging('name', 'id', 'createdAt'), byName, ...byTime],
    answer: ok(countedPageSchema(fabricServiceSchema)),
  }),
  guarded({
    ...admin,
    id: 'createFabricService',
    summary: 'Create a fabric service, which is dialed and terminated by routers',
    method: 'POST',
    path: '/fabric/services',
    body: newFabricServiceSchema,
    answer: created(fabricServiceSchema),
    refusals: [409],
  }),
  guarded({
    ...admin,
    id: 'getFabricService',
    summary: 'Get a fabric service',
    method: 'GET',
    path: '/fabric/services/{id}',
    answer: ok(fabricServiceSchema),
    refusals: [404],
  }),
  guarded({
    ...admin,
    id: 'changeFabricService',
    summary: 'Rename a fabric service, or change its terminator strategy',
    method: 'PATCH',
    path: '/fabric/services/{id}',
    body: fabricServiceChangeSchema,
    answer: ok(fabricServiceSchema),
    refusals: [404, 409],
  }),
  guarded({
    ...admin,
    id: 'deleteFabricService',
    summary: 'Delete a fabric service with its terminators; its circuits end',
    method: 'DELETE',
    path: '/fabric/services/{id}',
    answer: gone,
    refusals: [404],
  }),
  guarded({
    ...admin,
    id: 'listTerminators',
    summary: 'List the terminators of shares and of fabric services',
    method: 'GET',
    path: '/fabric/terminators',
    query: [...paging('id', 'cost'), byRouter, byService],
    answer: ok(countedPageSchema(fabricTerminatorSchema)),
  }),
  guarded({
    ...admin,
    id: 'createTerminator',
    summary: 'Create a terminator: an address that a router dials for a fabric service',
    method: 'POST',
    path: '/fabric/terminators',
    body: newFabricTerminatorSchema,
    answer: created(fabricTerminatorSchema),
    refusals: [404, 409],
  }),
  guarded({
    ...admin,
    id: 'getTerminator',
    summary: 'Get a terminator',
    method: 'GET',
    path: '/fabric/terminators/{id}',
    answer: ok(fabricTerminatorSchema),
    refusals: [404],
  }),
  guarded({
    ...admin,
    id: 'changeTerminator',
    summary: 'Change a terminator of a fabric service; its open circuits are not affected',
    method: 'PATCH',
    path: '/fabric/terminators/{id}',
    body: fabricTerminatorChangeSchema,
    answer: ok(fabricTerminatorSchema),
    refusals: [404, 409],
  }),
  guarded({
    ...admin,
    id: 'deleteTerminator',
    summary: 'Delete a terminator of a fabric service',
    method: 'DELETE',
    path: '/fabric/terminators/{id}',
    answer: gone,
    refusals: [404, 409],
  }),
  guarded({
    ...admin,
    id: 'inspectRouters',
    summary: 'Inspect the state of routers that are connected to this control plane',
    method: 'POST',
    path: '/fabric/inspect',
    body: inspectionRequestSchema,
    answer: ok(inspectionSchema),
    refusals: [404, 409],
  }),
] as const;
