/** Looks whether the agent has a request that was sent over a circuit, and asks for a dial when it shows no sign of it. */
import { CircuitError } from '#sdk';
import type { Upstream } from '../circuits/upstream.ts';
import { judgeDelivery } from './delivery-policy.ts';
import type { GatewayContext } from './gateway-context.ts';

const UNHEARD = new CircuitError('service-timeout', 'agent', 'the agent acknowledged nothing of the request');

/** Returns `repeat` if the request is to be sent over another circuit, and its failure if it has waited for too long. */
export function checkDelivery(
  upstream: Upstream,
  { pool, limits, nowMs }: GatewayContext,
  mayRepeat: boolean,
): 'repeat' | CircuitError | undefined {
  const { route } = upstream;
  const { answered, wait } = route.slot;
  const silentMs = upstream.silentMs(nowMs);
  const verdict = judgeDelivery({ nowMs, silentMs, answered, mayRepeat, holdMs: limits.silenceHoldMs });
  if (verdict === 'dial') pool.suspect(route);
  if (verdict === 'fail') return wait?.isSilent === true ? wait.failure : UNHEARD;
  return verdict === 'repeat' ? verdict : undefined;
}
