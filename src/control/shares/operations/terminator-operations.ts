/**
 * Terminators: those of shares, which hosts create and remove and which are only listed here, and those of fabric
 * services. Routers dial the address inside their network, so only administrators can set it.
 */
import { FrontdoorError } from '#base';
import type { FabricTerminatorAnswer, FabricTerminatorChangeBody } from '#contract/schemas';
import { invalidValue } from '#domain';
import type { FabricTerminatorView } from '../../overlay/mod.ts';
import {
  changeFabricTerminator,
  createFabricTerminator,
  deleteFabricTerminators,
  findFabricNode,
  findFabricService,
  lockFabricTerminator,
  type FabricTerminator,
} from '../../overlay/records/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  created,
  gone,
  ok,
  unstored,
  type ApiParts,
  type Call,
  type CreationParts,
  type Handlers,
} from './call.ts';
import { creation } from './creation.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import { livePageAnswer, routerNameOf } from './live-page.ts';
import { parsePageRequest, textOf } from './page-query.ts';

const INSTALLATION = { organizationId: '' };
/** By their number in the store. */
const PRECEDENCES = ['default', 'required', 'failed'] as const;

type MeasuredParts = Pick<ApiParts, 'fabric' | 'model'>;

export const terminatorHandlers: Handlers<
  CreationParts & MeasuredParts,
  'listTerminators' | 'createTerminator' | 'getTerminator' | 'changeTerminator' | 'deleteTerminator'
> = {
  async listTerminators(parts, call) {
    const request = parsePageRequest(call.query);
    const routerId = textOf(call.query, 'routerId');
    const serviceId = textOf(call.query, 'serviceId');
    const terminators = parts.fabric
      .terminators()
      .filter((each) => routerId === undefined || each.routerId === routerId)
      .filter((each) => serviceId === undefined || each.serviceId === serviceId);
    return livePageAnswer(terminators, request, { cost: (each) => each.cost }, (each) =>
      liveAnswer(parts, each),
    );
  },

  async createTerminator(parts, call) {
    const { body } = call;
    const nowMs = parts.clock.nowMs();
    const make = async (trx: Queries, touch: Touch) => {
      const service = await findFabricService(trx, body.serviceId);
      if (service === undefined) throw notFound('Service', body.serviceId);
      if ((await findFabricNode(trx, 'router', body.routerId)) === undefined)
        throw notFound('Router', body.routerId);
      const wanted = {
        serviceId: service.id,
        routerId: body.routerId,
        binding: body.binding ?? 'transport',
        address: body.address,
        instanceId: body.instanceId ?? '',
        cost: body.cost ?? 0,
        precedence: PRECEDENCES.indexOf(body.precedence ?? 'default'),
        peerData: new Map<number, Uint8Array>(),
      };
      const record = await createFabricTerminator(trx, touch, wanted, nowMs);
      return { result: { record, serviceName: service.name }, ...auditOf(record), after: storedView(record) };
    };
    return creation(parts, call, make, ({ record, serviceName }) => {
      const answer = answerOf(parts, record, serviceName);
      return tagged(parts, created(parts, `/fabric/terminators/${record.id}`, answer), storedOf(answer));
    });
  },

  async getTerminator(parts, call) {
    const answer = liveAnswer(parts, live(parts, call));
    return tagged(parts, unstored(ok(answer)), storedOf(answer));
  },

  async changeTerminator(parts, call) {
    const { body } = call;
    const changed = await change(parts, call, async (trx, touch) => {
      const before = await locked(parts, trx, call);
      checkIfMatch(parts, call, storedOf(storedView(before)));
      checkFixedFields(body, before);
      const { address, instanceId, cost, precedence } = body;
      const record = await changeFabricTerminator(trx, touch, before, {
        address,
        instanceId,
        cost,
        precedence: precedence === undefined ? undefined : PRECEDENCES.indexOf(precedence),
      });
      const service = await findFabricService(trx, record.serviceId);
      return {
        result: { record, serviceName: service!.name },
        ...auditOf(before),
        before: storedView(before),
        after: storedView(record),
      };
    });
    const answer = answerOf(parts, changed.record, changed.serviceName);
    return tagged(parts, ok(answer), storedOf(answer));
  },

  async deleteTerminator(parts, call) {
    await change(parts, call, async (trx, touch) => {
      const before = await locked(parts, trx, call);
      checkIfMatch(parts, call, storedOf(storedView(before)));
      await deleteFabricTerminators(trx, touch, [before.id]);
      return { result: undefined, ...auditOf(before), before: storedView(before) };
    });
    return gone;
  },
};

async function locked(
  parts: MeasuredParts,
  trx: Queries,
  call: Call<unknown, 'id'>,
): Promise<FabricTerminator> {
  const { id } = call.parameters;
  const record = await lockFabricTerminator(trx, id);
  if (record !== undefined) return record;
  const { kind } = live(parts, call);
  if (kind === 'fabric') throw notFound('Terminator', id);
  if (kind === 'edge') {
    const message = `Terminator ${id} belongs to a service of the edge management API, where it is changed`;
    throw new FrontdoorError('conflict', 'terminator-of-edge-service', message);
  }
  const message = `Terminator ${id} is a share's: its host makes and removes it`;
  throw new FrontdoorError('conflict', 'terminator-of-share', message);
}

function live({ fabric }: MeasuredParts, call: Call<unknown, 'id'>): FabricTerminatorView {
  const { id } = call.parameters;
  const terminator = fabric.terminators().find((each) => each.id === id);
  if (terminator === undefined) throw notFound('Terminator', id);
  return terminator;
}

/** Both ends may be repeated but not changed. */
function checkFixedFields(body: FabricTerminatorChangeBody, before: FabricTerminator): void {
  for (const field of ['serviceId', 'routerId', 'binding'] as const) {
    const value = body[field];
    if (value !== undefined && value !== before[field]) throw invalidValue(field, before[field]);
  }
}

function auditOf({ id }: FabricTerminator) {
  return { ...INSTALLATION, target: { kind: 'terminator', id } };
}

type StoredFields = Pick<
  FabricTerminatorAnswer,
  'id' | 'serviceId' | 'routerId' | 'binding' | 'address' | 'instanceId' | 'cost' | 'precedence'
>;

/** The fields that the entity tag covers: those that are not measured. */
function storedOf(terminator: StoredFields): StoredFields {
  const { id, serviceId, routerId, binding, address, instanceId, cost, precedence } = terminator;
  return { id, serviceId, routerId, binding, address, instanceId, cost, precedence };
}

function storedView({ peerData: _, precedence, ...record }: FabricTerminator) {
  return { ...record, precedence: PRECEDENCES[precedence] ?? 'default' };
}

/** The stored terminator, with the measurements of this control plane. */
function answerOf(
  parts: MeasuredParts,
  record: FabricTerminator,
  serviceName: string,
): FabricTerminatorAnswer {
  const measured = parts.fabric.terminators().find(({ id }) => id === record.id);
  return liveAnswer(parts, {
    ...storedView(record),
    kind: 'fabric',
    serviceName,
    dynamicCost: measured?.dynamicCost ?? 0,
    isHealthy: measured?.isHealthy ?? true,
  });
}

function liveAnswer(parts: MeasuredParts, terminator: FabricTerminatorView): FabricTerminatorAnswer {
  return {
    id: terminator.id,
    kind: terminator.kind,
    serviceId: terminator.serviceId,
    serviceName: terminator.serviceName,
    routerId: terminator.routerId,
    routerName: routerNameOf(parts, terminator.routerId),
    binding: terminator.binding,
    address: terminator.address,
    instanceId: terminator.instanceId,
    cost: terminator.cost,
    dynamicCost: terminator.dynamicCost,
    precedence: terminator.precedence,
    healthy: terminator.isHealthy,
  };
}
