/** Terminators in the inspections `sdk-terminators` and `ert-terminators`, with the field names and texts of OpenZiti's routers. */
import type { TerminatorPrecedence } from '#wire/ctrl';

export interface InspectedTerminator {
  readonly key: string;
  readonly id: string;
  readonly instanceId: string;
  readonly cost: number;
  readonly precedence: TerminatorPrecedence;
}

/** When a terminator came to be, and when a controller was last asked for it. Milliseconds since 1970; undefined: never. */
export interface CreationProgress {
  readonly isEstablished: boolean;
  /** A controller has not answered the last request. */
  readonly isPending: boolean;
  readonly createdAtMs: number | undefined;
  readonly lastAttemptMs: number | undefined;
}

/** The texts of the three values in the protocol. */
const PRECEDENCES = ['default', 'required', 'failed'] as const;
const NEVER = '0001-01-01 00:00:00';

export function terminatorRow(terminator: InspectedTerminator, progress: CreationProgress): object {
  const { key, id, instanceId, cost, precedence } = terminator;
  return {
    key,
    id,
    state: progress.isEstablished ? 'established' : 'establishing',
    instance: instanceId,
    cost,
    precedence: PRECEDENCES[precedence],
    operationActive: progress.isPending,
    createTime: timeText(progress.createdAtMs),
    lastAttempt: timeText(progress.lastAttemptMs),
  };
}

/** In UTC, to the second. */
function timeText(ms: number | undefined): string {
  return ms === undefined ? NEVER : new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
