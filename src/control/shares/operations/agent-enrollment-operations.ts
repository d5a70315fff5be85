/** Operations on enrollments of agents: codes that are shown once, their state, and which agent came of them. */
import { FrontdoorError } from '#base';
import type { AgentEnrollmentAnswer } from '#contract/schemas';
import { parseName } from '#domain';
import {
  createEnrollment,
  deleteEnrollment,
  listAgentEnrollments,
  lockAgentEnrollment,
  type AgentEnrollmentRecord,
  pruneEnrollments,
} from '../../overlay/enrollments/mod.ts';
import { grantFrontdoor } from '../records/frontdoor-store.ts';
import type { Queries } from '../../store/mod.ts';
import { notFound, notGranted } from './api-errors.ts';
import {
  change,
  gone,
  isoTime,
  ok,
  unstored,
  type ApiParts,
  type ChangeParts,
  type Handlers,
} from './call.ts';
import { creation } from './creation.ts';
import { countedPageAnswer, parsePageRequest } from './page-query.ts';

type EnrollmentParts = ChangeParts & Pick<ApiParts, 'agentEnrollmentTtlMs'>;

export const agentEnrollmentHandlers: Handlers<
  EnrollmentParts,
  'createEnrollment' | 'listEnrollments' | 'cancelEnrollment'
> = {
  async createEnrollment(parts, call) {
    const { frontdoor } = call;
    const { name, lifetimeSeconds } = call.body;
    const nowMs = parts.clock.nowMs();
    const make = async (trx: Queries) => {
      const granted = await grantFrontdoor(trx, frontdoor.organizationId, frontdoor.id);
      if (granted === undefined) throw notGranted('Frontdoor', call.parameters.frontdoorId);
      await pruneEnrollments(trx, nowMs);
      const result = await createEnrollment(trx, parts.secrets, {
        kind: 'environment',
        ownerId: granted.id,
        identityId: null,
        name: name === undefined ? undefined : parseName(name)!,
        ttlMs: lifetimeSeconds === undefined ? parts.agentEnrollmentTtlMs : lifetimeSeconds * 1_000,
        nowMs,
      });
      const { id, ownerId, expiresAtMs } = result.enrollment;
      const after = {
        frontdoorId: ownerId,
        name: result.enrollment.name ?? undefined,
        expiresAt: isoTime(expiresAtMs),
      };
      return { result, target: { kind: 'enrollment', id }, after };
    };
    return creation(parts, call, make, ({ code, enrollment }) => {
      const expiresAt = isoTime(enrollment.expiresAtMs);
      return unstored({
        status: 201,
        body: { frontdoorId: frontdoor.id, enrollmentCode: code, expiresAt },
      });
    });
  },

  async listEnrollments(parts, call) {
    const request = parsePageRequest(call.query);
    const nowMs = parts.clock.nowMs();
    const page = await listAgentEnrollments(parts.store.db, call.frontdoor.id, request);
    return ok(
      countedPageAnswer(
        request,
        page,
        page.content.map((enrollment) => answerOf(enrollment, nowMs)),
      ),
    );
  },

  async cancelEnrollment(parts, call) {
    const id = call.parameters.id.toLowerCase();
    const nowMs = parts.clock.nowMs();
    await change(parts, call, async (trx) => {
      const before = await lockAgentEnrollment(trx, call.frontdoor.id, id);
      if (before === undefined) throw notFound('Enrollment', id);
      if (before.claimedAtMs !== null) {
        throw new FrontdoorError('conflict', 'conflict', 'An agent has enrolled with it: delete the agent');
      }
      await deleteEnrollment(trx, before.id);
      return { result: undefined, target: { kind: 'enrollment', id }, before: answerOf(before, nowMs) };
    });
    return gone;
  },
};

function answerOf(enrollment: AgentEnrollmentRecord, nowMs: number): AgentEnrollmentAnswer {
  const { id, name, createdAtMs, expiresAtMs, claimedAtMs, identityId } = enrollment;
  return {
    id,
    name,
    state: stateOf(enrollment, nowMs),
    createdAt: isoTime(createdAtMs),
    expiresAt: isoTime(expiresAtMs),
    usedAt: claimedAtMs === null ? null : isoTime(claimedAtMs),
    environmentId: identityId,
  };
}

function stateOf(
  { claimedAtMs, expiresAtMs, isRefused }: AgentEnrollmentRecord,
  nowMs: number,
): AgentEnrollmentAnswer['state'] {
  if (claimedAtMs !== null) return 'used';
  if (isRefused) return 'refused';
  return expiresAtMs <= nowMs ? 'expired' : 'open';
}
