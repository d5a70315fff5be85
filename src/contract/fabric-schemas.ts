/** What the mesh looks like: routers, links, circuits, services of the installation, terminators, inspections. */
import type { Static } from 'typebox';
import { TERMINATOR_STRATEGIES } from '#domain';
import { Type } from './schema-builder.ts';
import { closed, nullable, oneOf, readOnly, text, timestamp } from './schema-parts.ts';

const MAX_COST = 65_535;

const strategy = () => oneOf(...TERMINATOR_STRATEGIES);
const precedence = () => oneOf('default', 'required', 'failed');
const cost = () => Type.Integer({ minimum: 0, maximum: MAX_COST });
const address = () => Type.String({ format: 'terminator-address' });
const serviceName = () => Type.String({ format: 'service-name' });
const instanceId = () =>
  Type.String({
    maxLength: 255,
    description: 'Circuits to `INSTANCE@SERVICE` go here; empty when it has none',
  });
const milliseconds = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description });

export const routerSchema = closed({
  id: Type.String(),
  name: Type.String(),
  enrolled: Type.Boolean({ description: 'It holds a certificate' }),
  createdAt: timestamp(),
  online: Type.Boolean({ description: 'It is connected to a control plane' }),
  version: nullable<string>({
    type: 'string',
    description:
      'As it says itself: of a router of ours the release of Frontdoor; null while it is not connected to this control plane',
  }),
  connectedAt: nullable<string>({ type: 'string', format: 'date-time' }),
  linkListeners: Type.Array(Type.String(), { description: 'Where other routers dial it' }),
  edgeAddress: nullable<string>({ type: 'string', description: 'Where agents, gateways and SDKs dial it' }),
});
export type RouterAnswer = Static<typeof routerSchema>;

export const fabricLinkSchema = closed({
  id: Type.String(),
  sourceRouterId: Type.String({ description: 'The one that dialed' }),
  sourceRouterName: Type.String(),
  destinationRouterId: Type.String(),
  destinationRouterName: Type.String(),
  protocol: Type.String(),
  dialAddress: Type.String(),
  iteration: Type.Integer({ description: 'Counts how often it was dialed anew' }),
  staticCost: Type.Number(),
  sourceLatencyMs: milliseconds('As the source measured it; null until it reported'),
  destinationLatencyMs: milliseconds('As the destination measured it; null until it reported'),
  cost: Type.Number({ description: 'What a circuit over it costs' }),
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
    description: 'Who dialed; null when a router did for itself',
  }),
  terminatorId: Type.String(),
  routerIds: Type.Array(Type.String(), { description: 'The way that it takes, ingress first' }),
  routerNames: Type.Array(Type.String()),
  linkIds: Type.Array(Type.String()),
  cost: Type.Number(),
  createdAt: timestamp(),
});
export type FabricCircuitAnswer = Static<typeof fabricCircuitSchema>;

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
  kind: oneOf('share', 'fabric'),
  serviceId: Type.String({ description: 'Of the share, or of the fabric service' }),
  serviceName: Type.String(),
  routerId: Type.String(),
  routerName: Type.String(),
  binding: Type.String(),
  address: Type.String(),
  instanceId: Type.String(),
  cost: Type.Integer(),
  dynamicCost: Type.Number({ description: 'What circuits in use and failures add at this control plane' }),
  precedence: precedence(),
  healthy: Type.Boolean({ description: 'Its host has not said that the service does not work' }),
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
  /** Only what routers can dial by today. */
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
    description: 'What to ask for, such as `links`, `metrics` or `circuit:ID`',
    examples: [['links']],
  }),
  routerId: Type.Optional(
    Type.String({ maxLength: 300, description: 'Which router; every connected one when absent' }),
  ),
});

export const inspectedValueSchema = closed({
  routerId: Type.String(),
  name: Type.String(),
  value: Type.Optional(Type.Unknown({ description: 'JSON, or text when it is none' })),
  error: Type.Optional(Type.String({ description: 'In place of a value' })),
});

export const inspectionSchema = closed({ values: Type.Array(inspectedValueSchema) });
export type InspectionAnswer = Static<typeof inspectionSchema>;
