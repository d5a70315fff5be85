/** Operations on frontdoors. A frontdoor of another organization is indistinguishable from one that does not exist. */
import { FrontdoorError } from '#base';
import { parseName } from '#domain';
import {
  createFrontdoor,
  deleteFrontdoor,
  firstFrontdoor,
  lockFrontdoor,
  renameFrontdoor,
  type GrantedFrontdoor,
} from '../records/frontdoor-store.ts';
import { heldByFrontdoor } from '../records/held-resources.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { notGranted } from './api-errors.ts';
import { change, created, gone, ok, type Call, type CreationParts, type Handlers } from './call.ts';
import { creation } from './creation.ts';
import { checkIfMatch } from './entity-tag.ts';
import { checkMayVouch } from './granted-organization.ts';
import { textOf } from './page-query.ts';

export const frontdoorHandlers: Handlers<
  CreationParts,
  'createFrontdoor' | 'findFrontdoor' | 'getFrontdoor' | 'changeFrontdoor' | 'deleteFrontdoor'
> = {
  async createFrontdoor(parts, call) {
    const { body } = call;
    const organizationId = ownOrganization(call, body.organizationId);
    const name = parseName(body.name)!;
    const make = async (trx: Queries, touch: Touch) => {
      const result = await createFrontdoor(trx, touch, { organizationId, name, nowMs: parts.clock.nowMs() });
      return { result, target: targetOf(result), after: answerOf(result) };
    };
    return creation(parts, call, make, (frontdoor) =>
      created(parts, `/frontdoor/${frontdoor.id}`, answerOf(frontdoor)),
    );
  },

  async findFrontdoor(parts, call) {
    const asked = textOf(call.query, 'organizationId')!;
    const frontdoor = await firstFrontdoor(parts.store.db, ownOrganization(call, asked));
    if (frontdoor === undefined) {
      throw new FrontdoorError('notFound', 'not-found', `Frontdoor of organization ${asked} not found`);
    }
    return ok(answerOf(frontdoor));
  },

  async getFrontdoor(_parts, call) {
    return ok(answerOf(call.frontdoor));
  },

  async changeFrontdoor(parts, call) {
    const { name } = call.body;
    const after = await change(parts, call, async (trx, touch) => {
      const before = await lockFrontdoor(trx, call.frontdoor);
      if (before === undefined) throw notGranted('Frontdoor', call.parameters.frontdoorId);
      checkIfMatch(parts, call, answerOf(before));
      const result =
        name === undefined ? before : await renameFrontdoor(trx, touch, before, parseName(name)!);
      return { result, target: targetOf(before), before: answerOf(before), after: answerOf(result) };
    });
    return ok(answerOf(after));
  },

  async deleteFrontdoor(parts, call) {
    const { frontdoor } = call;
    await change(parts, call, async (trx, touch) => {
      checkIfMatch(parts, call, answerOf(frontdoor));
      await checkMayVouch(trx, call.principal, { frontdoorId: frontdoor.id });
      const held = await heldByFrontdoor(trx, frontdoor.id);
      const isRemoved = await deleteFrontdoor(trx, touch, frontdoor, parts.clock.nowMs());
      if (!isRemoved) throw notGranted('Frontdoor', call.parameters.frontdoorId);
      return { result: undefined, target: targetOf(frontdoor), before: { ...answerOf(frontdoor), ...held } };
    });
    return gone;
  },
};

function ownOrganization(call: Call, asked: string): string {
  const { organizationId } = call.principal;
  if (asked.toLowerCase() !== organizationId) throw notGranted('Organization', asked);
  return organizationId;
}

function targetOf({ id }: GrantedFrontdoor) {
  return { kind: 'frontdoor', id };
}

function answerOf(frontdoor: GrantedFrontdoor) {
  return { id: frontdoor.id, name: frontdoor.name, organizationId: frontdoor.organizationId };
}
