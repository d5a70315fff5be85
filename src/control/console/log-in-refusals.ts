/**
 * Writes refused log-ins at the console to the audit trail, and keeps no answer waiting. Equal refusals of ten seconds are one
 * event, and their number is limited. No event has what was typed, because people type passwords where a name belongs.
 */
import { UNPROVEN, type RefusalRecorder } from '../audit/mod.ts';
import type { SessionOwner } from '../credentials/people/mod.ts';

export type LogInRefusals = Pick<RefusalRecorder, 'record'>;

export interface RefusedLogIn {
  readonly reason: string;
  readonly address: string;
  /** Whose log-in it would have been, which nobody has proven. */
  readonly owner?: SessionOwner | undefined;
  /** A log-in by default. */
  readonly action?: 'consoleLogIn' | 'acceptInvitation' | 'changePassword' | 'usePasswordLink' | undefined;
}

/** Writes the event to the trail of the owner's organization, or to that of the installation. */
export function recordRefusedLogIn(
  refusals: LogInRefusals,
  { reason, address, owner, action = 'consoleLogIn' }: RefusedLogIn,
): void {
  refusals.record({
    owner: owner === undefined ? UNPROVEN.owner : { organizationId: owner.organizationId },
    actor: UNPROVEN.actor,
    action,
    target: owner && { kind: owner.kind, id: owner.id },
    address,
    reason,
  });
}
