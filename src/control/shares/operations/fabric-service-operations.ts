/**
 * Fabric services, which routers themselves dial and terminate. They belong to the installation; agents and
 * gateways do not see them.
 */
import type { FabricServiceAnswer } from '#contract/schemas';
import { parseName } from '#domain';
import {
  changeFabricService,
  createFabricService,
  deleteFabricService,
  findFabricService,
  listFabricServices,
  lockFabricService,
  type FabricServiceRecord,
} from '../../overlay/records/mod.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import { change, created, gone, isoTime, ok, type Call, type CreationParts, type Handlers } from './call.ts';
import { creation } from './creation.ts';
import { checkIfMatch } from './entity-tag.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest } from './page-query.ts';

const INSTALLATION = { organizationId: '' };

export const fabricServiceHandlers: Handlers<
  CreationParts,
  | 'listFabricServices'
  | 'createFabricService'
  | 'getFabricService'
  | 'changeFabricService'
  | 'deleteFabricService'
> = {
  async listFabricServices(parts, call) {
    const request = parsePageRequest(call.query);
    const page = await listFabricServices(parts.store.db, request, listFilterOf(call.query));
    return ok(countedPageAnswer(request, page, page.content.map(answerOf)));
  },

  async createFabricService(parts, call) {
    const { name, terminatorStrategy = 'smartrouting' } = call.body;
    const nowMs = parts.clock.nowMs();
    const make = async (trx: Queries, touch: Touch) => {
      const wanted = { name: parseName(name)!, terminatorStrategy, nowMs };
      const result = await createFabricService(trx, touch, wanted);
      return { result, ...auditOf(result), after: answerOf(result) };
    };
    return creation(parts, call, make, (service) =>
      created(parts, `/fabric/services/${service.id}`, answerOf(service)),
    );
  },

  async getFabricService(parts, call) {
    const { id } = call.parameters;
    return ok(answerOf(present(await findFabricService(parts.store.db, id), id)));
  },

  async changeFabricService(parts, call) {
    const { name, terminatorStrategy } = call.body;
    const service = await change(parts, call, async (trx, touch) => {
      const before = await locked(trx, call);
      checkIfMatch(parts, call, answerOf(before));
      const result = await changeFabricService(trx, touch, before, {
        name: name === undefined ? undefined : parseName(name)!,
        terminatorStrategy,
      });
      return { result, ...auditOf(before), before: answerOf(before), after: answerOf(result) };
    });
    return ok(answerOf(service));
  },

  async deleteFabricService(parts, call) {
    await change(parts, call, async (trx, touch) => {
      const before = await locked(trx, call);
      checkIfMatch(parts, call, answerOf(before));
      await deleteFabricService(trx, touch, before.id);
      return { result: undefined, ...auditOf(before), before: answerOf(before) };
    });
    return gone;
  },
};

async function locked(trx: Queries, call: Call<unknown, 'id'>): Promise<FabricServiceRecord> {
  const { id } = call.parameters;
  return present(await lockFabricService(trx, id), id);
}

function present(service: FabricServiceRecord | undefined, id: string): FabricServiceRecord {
  if (service === undefined) throw notFound('Service', id);
  return service;
}

function auditOf({ id }: FabricServiceRecord) {
  return { ...INSTALLATION, target: { kind: 'fabric-service', id } };
}

function answerOf({ id, name, terminatorStrategy, createdAtMs }: FabricServiceRecord): FabricServiceAnswer {
  return { id, name, terminatorStrategy, createdAt: isoTime(createdAtMs) };
}
