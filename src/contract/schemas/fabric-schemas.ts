/** Schemas of the mesh: routers, links, circuits, services of the fabric, terminators, inspections. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { TERMINATOR_STRATEGIES } from '#domain';
import { closed, nullable, oneOf, readOnly, text, timestamp } from '../schema-parts.ts';

const MAX_COST = 65_535;

const strategy = () => oneOf(...TERMINATOR_STRATEGIES);
const precedence = () => oneOf('default', 'required', 'failed');
const cost = () => Type.Integer({ minimum: 0, maximum: MAX_COST });
const address = () => Type.String({ format: 'terminator-address' });
const serviceName = () => Type.String({ format: 'service-name' });
const instanceId = () =>
  Type.String({
    maxLength: 255,
    description: 'Circuits to `INSTANCE@SERVICE` use this terminator; empty: it serves no instance',
  });
const milliseconds = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description });

export const routerSchema = closed({
  id: Type.String(),
  name: Type.String(),
  enrolled: Type.Boolean({ description: 'Whether it holds a certificate' }),
  createdAt: timestamp(),
  online: Type.Boolean({ description: 'Whether it is connected to a control plane' }),
  version: nullable<string>({
    type: 'string',
    description:
      "Version that the router reports, for Frontdoor's routers the release; null while it is not connected to this control plane",
  }),
  connectedAt: nullable<string>({ type: 'string', format: 'date-time' }),
  linkListeners: Type.Array(Type.String(), { description: 'Addresses that other routers dial' }),
  edgeAddress: nullable<string>({
    type: 'string',
    description: 'Address that agents, gateways and SDKs dial',
  }),
  tunneler: Type.Boolean({
    description: 'Whether its tunnel listeners can host and dial services of the edge management API',
  }),
  roleAttributes: Type.Array(Type.String(), {
    description:
      'Attributes by which policies of the edge management API select it; IDs of frontdoors whose private shares can be granted to it',
  }),
});
export type RouterAnswer = Static<typeof routerSchema>;

export const fabricLinkSchema = closed({
  id: Type.String(),
  sourceRouterId: Type.String({ description: 'The router that dialed the link' }),
  sourceRouterName: Type.String(),
  destinationRouterId: Type.String(),
  destinationRouterName: Type.String(),
  protocol: Type.String(),
  dialAddress: Type.String(),
  iteration: Type.Integer({ description: 'Incremented each time the link is dialed again' }),
  staticCost: Type.Number(),
  sourceLatencyMs: milliseconds('Latency that the source measured; null until the first measurement'),
  destinationLatencyMs: milliseconds(
    'Latency that the destination measured; null until the first measurement',
  ),
  cost: Type.Number({ description: 'Cost of the link for circuits that use it' }),
  usable: Type.Boolean(),
  connections: Type.Array(
    closed({ type: Type.String(), localAddress: Type.String(), remoteAddress: Type.String() }),
  ),
});
export type FabricLinkAnswer = Static<typeof fabricLinkSchema>;

export const fabricCircuitSchema = closed({
  id: Type.String(),
  serviceId: Type.String(),
  serviceName: Type.String(),
  identityId: nullable<string>({
    type: 'string',
    description: 'Identity that dialed; null if a router dialed on its own behalf',
  }),
  terminatorId: Type.String(),
  routerIds: Type.Array(Type.String(), {
    description: "The routers of the circuit's path, starting with the ingress",
  }),
  routerNames: Type.Array(Type.String()),
  linkIds: Type.Array(Type.String()),
  cost: Type.Number(),
  createdAt: timestamp(),
});
export type FabricCircuitAnswer = Static<typeof fabricCircuitSchema>;

export const meshSchema = closed({
  at: timestamp(),
  routers: Type.Array(
    closed({
      id: Type.String(),
      name: Type.String(),
      online: Type.Boolean({ description: 'Whether it is connected to this control plane' }),
      version: nullable<string>({
        type: 'string',
        description: 'Its version; null while it is disconnected',
      }),
    }),
  ),
  links: Type.Array(
    closed({
      id: Type.String(),
      sourceRouterId: Type.String({ description: 'The router that dialed the link' }),
      destinationRouterId: Type.String({ description: 'The router that was dialed' }),
      protocol: Type.String({ description: 'The protocol of the link' }),
      cost: Type.Number({ description: 'Cost of the link for circuits that use it' }),
      sourceLatencyMs: milliseconds('Latency that the source measured; null until the first measurement'),
      destinationLatencyMs: milliseconds(
        'Latency that the destination measured; null until the first measurement',
      ),
      usable: Type.Boolean({ description: 'Whether circuits can use the link' }),
      circuits: Type.Integer({ description: 'The number of circuits of this control plane on the link' }),
    }),
  ),
  services: Type.Array(
    closed({
      id: Type.String(),
      name: Type.String(),
      kind: oneOf('share', 'fabric', 'edge'),
      terminators: Type.Array(
        closed({
          id: Type.String(),
          routerId: Type.String(),
          instanceId: Type.String(),
          precedence: precedence(),
          cost: Type.Number({ description: 'The sum of the configured and the dynamic cost' }),
          healthy: Type.Boolean(),
        }),
      ),
    }),
    { description: 'The first 1000 services that have terminators, by name' },
  ),
  serviceCount: Type.Integer({ description: 'The number of services that have terminators' }),
});
export type MeshAnswer = Static<typeof meshSchema>;

export const fabricRouteSchema = closed({
  routerId: Type.String({ description: 'The router at which the circuit would start' }),
  serviceId: Type.String(),
  serviceName: Type.String(),
  terminatorStrategy: strategy(),
  terminatorId: nullable<string>({
    type: 'string',
    description: 'The terminator that the circuit would use; null: the dial would fail',
  }),
  routerIds: Type.Array(Type.String(), {
    description: 'The routers of the path, starting with the ingress',
  }),
  routerNames: Type.Array(Type.String(), { description: 'The names of the routers on the path' }),
  linkIds: Type.Array(Type.String(), { description: 'The links of the path' }),
  cost: nullable<number>({
    type: 'number',
    description: 'The sum of the costs of path and terminator; null without a path',
  }),
  reason: Type.String({ description: 'Why the circuit would take this path, or why the dial would fail' }),
  candidates: Type.Array(
    closed({
      terminatorId: Type.String(),
      routerId: Type.String({ description: 'The router of the terminator' }),
      routerName: Type.String(),
      routerIds: Type.Array(Type.String(), {
        description: 'The routers of the path to it; empty: there is no path',
      }),
      pathCost: nullable<number>({ type: 'number', description: 'Cost of the path; null without a path' }),
      terminatorCost: Type.Number({ description: 'The sum of the configured and the dynamic cost' }),
      precedence: precedence(),
      healthy: Type.Boolean(),
      chosen: Type.Boolean({ description: 'Whether the circuit would use this terminator' }),
      reason: Type.String({ description: 'Why it would be selected, or not' }),
    }),
    { description: 'The terminators of the service, the selected one first' },
  ),
});
export type FabricRouteAnswer = Static<typeof fabricRouteSchema>;

export const fabricServiceSchema = closed({
  id: Type.String(),
  name: Type.String(),
  terminatorStrategy: strategy(),
  createdAt: timestamp(),
});
export type FabricServiceAnswer = Static<typeof fabricServiceSchema>;

export const newFabricServiceSchema = closed({
  name: serviceName(),
  terminatorStrategy: Type.Optional(strategy()),
  id: readOnly(),
  createdAt: readOnly(),
});

export const fabricServiceChangeSchema = closed({
  name: Type.Optional(serviceName()),
  terminatorStrategy: Type.Optional(strategy()),
  id: readOnly(),
  createdAt: readOnly(),
});

export const fabricTerminatorSchema = closed({
  id: Type.String(),
  kind: oneOf('share', 'fabric', 'edge'),
  serviceId: Type.String({ description: 'ID of the share or fabric service' }),
  serviceName: Type.String(),
  routerId: Type.String(),
  routerName: Type.String(),
  binding: Type.String(),
  address: Type.String(),
  instanceId: Type.String(),
  cost: Type.Integer(),
  dynamicCost: Type.Number({
    description: 'Cost that this control plane adds for open circuits and recent failures',
  }),
  precedence: precedence(),
  healthy: Type.Boolean({ description: 'False after its host has reported that the service is not healthy' }),
});
export type FabricTerminatorAnswer = Static<typeof fabricTerminatorSchema>;

const readOnlyOfTerminators = () => ({
  id: readOnly(),
  kind: readOnly(),
  serviceName: readOnly(),
  routerName: readOnly(),
  dynamicCost: readOnly(),
  healthy: readOnly(),
});

export const newFabricTerminatorSchema = closed({
  serviceId: text(),
  routerId: text(),
  /** `transport` is the only binding that routers dial by. */
  binding: Type.Optional(oneOf('transport')),
  address: address(),
  instanceId: Type.Optional(instanceId()),
  cost: Type.Optional(cost()),
  precedence: Type.Optional(precedence()),
  ...readOnlyOfTerminators(),
});

export const fabricTerminatorChangeSchema = closed({
  address: Type.Optional(address()),
  instanceId: Type.Optional(instanceId()),
  cost: Type.Optional(cost()),
  precedence: Type.Optional(precedence()),
  serviceId: Type.Optional(text()),
  routerId: Type.Optional(text()),
  binding: Type.Optional(text()),
  ...readOnlyOfTerminators(),
});
export type FabricTerminatorChangeBody = Static<typeof fabricTerminatorChangeSchema>;

export const inspectionRequestSchema = closed({
  names: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
    minItems: 1,
    maxItems: 20,
    description: 'What to inspect, such as `links`, `metrics` or `circuit:ID`',
    examples: [['links']],
  }),
  routerId: Type.Optional(
    Type.String({ maxLength: 300, description: 'The router to inspect; all connected routers by default' }),
  ),
});

export const inspectedValueSchema = closed({
  routerId: Type.String(),
  name: Type.String(),
  value: Type.Optional(
    Type.Unknown({ description: 'The value: JSON if the router sent JSON, text otherwise' }),
  ),
  error: Type.Optional(Type.String({ description: 'Why there is no value' })),
});

export const inspectionSchema = closed({ values: Type.Array(inspectedValueSchema) });
export type InspectionAnswer = Static<typeof inspectionSchema>;
