/**
 * Whether the device of a session passes the posture checks of a policy that grants the access. Routers judge sessions of
 * signed tokens themselves, because their devices report to routers. A router's own identity reports no posture, so that
 * only policies without checks are for it. Shares have no policies, and so no checks.
 */
import type { ApiSession, ApiSessions } from '../model/api-sessions.ts';
import type { OverlayModel } from '../model/overlay-model.ts';

export interface PostureQuestion {
  readonly type: 'Dial' | 'Bind';
  readonly identityId: string;
  readonly serviceId: string;
}

/** `session`: undefined for a router's own identity. */
export function passesPosture(
  { edge }: OverlayModel,
  { type, identityId, serviceId }: PostureQuestion,
  session: Pick<ApiSession, 'isSigned' | 'posture'> | undefined,
  nowMs: number,
): boolean {
  if (session?.isSigned === true || edge.postureChecks.size === 0) return true;
  const policies = edge.grantingPolicies(type, identityId, serviceId);
  return edge.postureChecks.failuresOf(policies, session?.posture, nowMs) === undefined;
}

/** Judges hosts, of which only the identity is known: any of its sessions may have bound the service. */
export class HostPostures {
  readonly #model: OverlayModel;
  readonly #sessions: ApiSessions;
  readonly #nowMs: number;
  #byIdentity: Map<string, ApiSession[]> | undefined;

  constructor(model: OverlayModel, sessions: ApiSessions, nowMs: number) {
    this.#model = model;
    this.#sessions = sessions;
    this.#nowMs = nowMs;
  }

  pass(identityId: string, serviceId: string): boolean {
    const question = { type: 'Bind', identityId, serviceId } as const;
    const passes = (session?: ApiSession): boolean =>
      passesPosture(this.#model, question, session, this.#nowMs);
    return passes() || this.#of(identityId).some(passes);
  }

  #of(identityId: string): readonly ApiSession[] {
    this.#byIdentity ??= Map.groupBy(this.#sessions.all(), (session) => session.identityId);
    return this.#byIdentity.get(identityId) ?? [];
  }
}
