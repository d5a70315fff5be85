/** Events of the kind `authentication`: every attempt to log in, for administrators who follow them. */
import type { FastifyRequest } from 'fastify';
import {
  authPolicyOf,
  type FabricEvents,
  type LogInWay,
  type OverlayModel,
} from '../../overlay/model/mod.ts';

export interface LogInAttempt extends LogInWay {
  /** Undefined if no identity was found. */
  readonly identityId: string | undefined;
  readonly authenticatorId?: string | undefined;
  /** Why it was refused; undefined for a success. */
  readonly problem?: string | undefined;
}

/** What an attempt is reported with. */
export interface LogInReporting {
  readonly events: FabricEvents;
  readonly model: OverlayModel;
}

export function reportLogIn(
  { events, model }: LogInReporting,
  request: FastifyRequest,
  attempt: LogInAttempt,
): void {
  if (!events.has('authentication')) return;
  const { identityId, method, signerId } = attempt;
  const isKnown = identityId !== undefined && model.identity(identityId) !== undefined;
  events.emit('authentication', {
    method,
    isSuccess: attempt.problem === undefined,
    identityId: identityId ?? '',
    authenticatorId: attempt.authenticatorId ?? '',
    signerId: method === 'ext-jwt' ? (signerId ?? '') : '',
    authPolicyId: isKnown ? authPolicyOf(model.edge, identityId).id : '',
    remoteAddress: `${request.ip}:${String(request.raw.socket.remotePort ?? 0)}`,
    problem: attempt.problem ?? '',
  });
}
