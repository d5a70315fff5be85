/** How long a service may take until its response begins. */
import { grpcTimeoutMs } from '../http/grpc-policy.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { GatewayLimits } from '../limits/gateway-limits.ts';

/** A service reports a call that it could not finish in time, and clients give up by themselves. */
const AFTER_DEADLINE_MS = 2_000;

interface TimedRoute {
  readonly idleMs: number | undefined;
  readonly rules: { readonly rules: { readonly responseTimeoutMs: number | null } };
}

/**
 * `isCall`: the request is a call of gRPC. Its response may begin with the first message, which can be an hour away, so that the
 * client's own deadline decides, and where it has none the time for idle streams.
 */
export function answerTimeoutMs(
  route: TimedRoute,
  { fields }: RequestHead,
  limits: Pick<GatewayLimits, 'answerTimeoutMs' | 'streamIdleMs'>,
  isCall: boolean,
): number {
  const { responseTimeoutMs } = route.rules.rules;
  if (responseTimeoutMs !== null) return responseTimeoutMs;
  if (!isCall) return limits.answerTimeoutMs;
  const idleMs = route.idleMs ?? limits.streamIdleMs;
  const deadlineMs = grpcTimeoutMs(fields);
  return deadlineMs === undefined ? idleMs : Math.min(idleMs, deadlineMs + AFTER_DEADLINE_MS);
}
