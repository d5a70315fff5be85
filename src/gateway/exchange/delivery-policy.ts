/**
 * Decides about a request that was sent over a circuit and of which the agent has not acknowledged anything. The agent may be
 * frozen, or its circuit lost, and its router notices that only after seconds. Pure.
 */

/** After this time without a sign of the agent, a dial shows whether it answers. */
const SUSPECT_MS = 1_000;
/** More than an acknowledgement may take that is sent before the answer to a dial. */
const ANSWERED_BEFORE_MS = 500;

export interface Delivery {
  readonly nowMs: number;
  /** How long the agent has given no sign, while its router has. */
  readonly silentMs: number;
  /** When the last successful dial of the share began and ended. */
  readonly answered: { readonly startedMs: number; readonly endedMs: number };
  /** Whether the request may be sent again. */
  readonly mayRepeat: boolean;
  /** How long the request may be without a sign of the agent. */
  readonly holdMs: number;
}

/**
 * `dial`: a dial is needed. `repeat`: a dial that began later was answered, so that the agent of this circuit is not the one
 * that answers now, or its circuit is lost.
 */
export function judgeDelivery(delivery: Delivery): 'wait' | 'dial' | 'repeat' | 'fail' {
  const { nowMs, silentMs, answered, mayRepeat, holdMs } = delivery;
  if (silentMs < SUSPECT_MS) return 'wait';
  const isAnswered = answered.startedMs > nowMs - silentMs;
  if (isAnswered && mayRepeat && answered.endedMs <= nowMs - ANSWERED_BEFORE_MS) return 'repeat';
  if (silentMs >= holdMs) return 'fail';
  return isAnswered ? 'wait' : 'dial';
}
