/**
 * Terminators of services: those that administrators make, which are addresses that a router dials, and those of programs
 * that host a service, of which only cost and precedence can be changed. Service and identity of a terminator stay.
 */
import { EdgeApiRefusal, invalidParameter } from '../../overlay/clients/mod.ts';
import { isoTime } from '../client-api/service-view.ts';
import type { EdgeEntityRecord, JsonObject, OverlayModel } from '../../overlay/model/mod.ts';
import {
  changeHostedTerminator,
  deleteHostedTerminator,
  deleteManagedTerminator,
  hostedEdgeTerminators,
  insertManagedTerminator,
  managedTerminators,
  updateManagedTerminator,
  type ManagedTerminator,
  type StoredTerminator,
} from '../../overlay/records/mod.ts';
import { choice, neededText, text, whole } from './body-fields.ts';
import { entityReader } from './body-reader.ts';
import { commonSymbols, referenceView, type EntityForm } from './entity-form.ts';
import type { EntityResource } from './entity-resource.ts';

const MAX_ADDRESS_CHARS = 512;
const MAX_COST = 65_535;
/** By their number in the store. */
const PRECEDENCES = ['default', 'required', 'failed'] as const;
const DEFAULT_BINDING = 'transport';
/** Only programs that host a service have terminators with these. */
const HOST_BINDINGS: ReadonlySet<string> = new Set(['edge', 'tunnel']);
/** Bindings whose addresses have a transport: `tcp:10.0.0.1:80`. */
const DIALED_BINDINGS: ReadonlySet<string> = new Set([DEFAULT_BINDING, 'edge_transport']);
/** Fields of a change that a hosted terminator has to keep. */
const HOSTED_FIELDS = ['router', 'binding', 'address', 'service', 'identity'] as const;

const textSymbol = (field: string) =>
  ({ type: 'text', read: ({ data }: EdgeEntityRecord) => String(data[field]) }) as const;

const form: EntityForm = {
  kind: 'terminator',
  path: 'terminators',
  read: entityReader(
    {
      service: neededText(MAX_ADDRESS_CHARS, 'is required'),
      router: neededText(MAX_ADDRESS_CHARS, 'is required'),
      binding: text(MAX_ADDRESS_CHARS),
      address: neededText(MAX_ADDRESS_CHARS, 'is required'),
      identity: text(MAX_ADDRESS_CHARS),
      cost: whole(MAX_COST),
      precedence: choice(PRECEDENCES),
    },
    (fields) => ({ ...fields, binding: fields.binding || DEFAULT_BINDING }),
    { isNamed: false },
  ),
  references: ({ service, router }) => [
    { field: 'service', kind: 'service', ids: [String(service)] },
    // Every router is listed as a transit router.
    { field: 'router', kind: 'transit-router', ids: [String(router)] },
  ],
  symbols: {
    ...commonSymbols,
    service: textSymbol('service'),
    router: textSymbol('router'),
    binding: textSymbol('binding'),
    address: textSymbol('address'),
    identity: textSymbol('identity'),
    instanceId: textSymbol('identity'),
    hostId: textSymbol('hostId'),
  },
  view: (model, { data }) => viewOf(model, data),
};

export const terminatorResource: EntityResource = {
  form,
  moreFields: [],
  keptFields: ['hostId'],
  hasOwnTables: true,

  async all({ store: { db } }) {
    const hosted = await hostedEdgeTerminators(db);
    return [...hosted.map(hostedRecord), ...(await managedTerminators(db)).map(managedRecord)].sort(byId);
  },

  async find(db, id) {
    const [managed] = await managedTerminators(db, id);
    if (managed !== undefined) return managedRecord(managed);
    const [hosted] = await hostedEdgeTerminators(db, id);
    return hosted === undefined ? undefined : hostedRecord(hosted);
  },

  viewer: ({ model, overlay }) =>
    Promise.resolve((entity) => ({
      _links: { self: { href: `./terminators/${entity.id}` } },
      id: entity.id,
      tags: entity.tags,
      createdAt: isoTime(entity.createdAtMs),
      updatedAt: isoTime(entity.updatedAtMs),
      ...viewOf(model, entity.data),
      dynamicCost: overlay.mesh.dynamicCost(entity.id),
    })),

  async insert(_parts, { trx, touch }, entity) {
    const terminator = managedOf(entity);
    checkDestination(terminator);
    if (!(await insertManagedTerminator(trx, touch, terminator)))
      throw new EdgeApiRefusal('limited', 'RATE_LIMITED', 'The service has too many terminators');
  },

  async update(parts, { trx, touch }, entity) {
    const { id, data } = entity;
    const before = (await terminatorResource.find(trx, id))!;
    if (isHosted(entity)) {
      for (const field of HOSTED_FIELDS) checkSame(field, before.data, data);
      if (Object.keys(entity.tags).length > 0)
        throw invalidParameter('tags', 'the terminator of a host has no tags', '');
      const { cost, precedence } = managedOf(entity);
      return changeHostedTerminator(trx, touch, { id, cost, precedence });
    }
    for (const field of ['service', 'identity'] as const) checkSame(field, before.data, data);
    const terminator = managedOf(entity);
    checkDestination(terminator);
    await updateManagedTerminator(trx, touch, terminator);
  },

  async remove(_parts, { trx, touch }, entity) {
    const remove = isHosted(entity) ? deleteHostedTerminator : deleteManagedTerminator;
    await remove(trx, touch, entity.id);
  },
};

function checkDestination({ binding, address }: ManagedTerminator): void {
  if (HOST_BINDINGS.has(binding))
    throw invalidParameter('binding', 'only programs that host the service have this binding', binding);
  if (DIALED_BINDINGS.has(binding) && !/^[a-z]+:./.test(address))
    throw invalidParameter(
      'address',
      'address must begin with its transport, as tcp:host:port does',
      address,
    );
}

function checkSame(field: string, before: JsonObject, after: JsonObject): void {
  if (before[field] !== after[field])
    throw invalidParameter(field, `${field} cannot be changed`, String(after[field]));
}

function isHosted({ data }: EdgeEntityRecord): boolean {
  return data['hostId'] !== '' && data['hostId'] !== undefined;
}

function managedOf({ id, data, tags, createdAtMs, updatedAtMs }: EdgeEntityRecord): ManagedTerminator {
  return {
    id,
    tags,
    createdAtMs,
    updatedAtMs,
    serviceId: String(data['service']),
    routerId: String(data['router']),
    binding: String(data['binding']),
    address: String(data['address']),
    instanceId: String(data['identity']),
    cost: Number(data['cost']),
    precedence: PRECEDENCES.findIndex((name) => name === data['precedence']),
    peerData: new Map(),
  };
}

function managedRecord(terminator: ManagedTerminator): EdgeEntityRecord {
  const { id, tags, createdAtMs, updatedAtMs, serviceId, routerId, binding, address } = terminator;
  const { instanceId, cost, precedence } = terminator;
  return {
    id,
    kind: 'terminator',
    name: '',
    tags,
    createdAtMs,
    updatedAtMs,
    data: {
      service: serviceId,
      router: routerId,
      binding,
      address,
      identity: instanceId,
      cost,
      precedence: PRECEDENCES[precedence] ?? 'default',
      hostId: '',
    },
  };
}

function hostedRecord(terminator: StoredTerminator): EdgeEntityRecord {
  const { id, serviceId: service, routerId: router, binding, address, createdAtMs } = terminator;
  return {
    id,
    kind: 'terminator',
    name: '',
    tags: {},
    createdAtMs,
    updatedAtMs: createdAtMs,
    data: {
      service,
      router,
      binding,
      address,
      identity: terminator.instanceId,
      cost: terminator.cost,
      hostId: terminator.identityId,
      precedence: PRECEDENCES[terminator.precedence] ?? 'default',
    },
  };
}

function viewOf(model: OverlayModel, data: JsonObject): JsonObject {
  const { service, router, ...fields } = data;
  const [serviceId, routerId] = [String(service), String(router)];
  return {
    ...fields,
    serviceId,
    routerId,
    service: referenceView('services', serviceId, model.edge.service(serviceId)?.name ?? ''),
    router: referenceView('transit-routers', routerId, model.identity(routerId)?.name ?? ''),
  };
}

function byId(a: EdgeEntityRecord, b: EdgeEntityRecord): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
