/** Failures after which the same request may succeed without a change, for programs that decide whether to send it again. */
import type { FailureCode } from './failure-remedy-table.ts';
import type { MessageRefusal } from './message-refusal-table.ts';

const RETRYABLE: ReadonlySet<string> = new Set<FailureCode | MessageRefusal>([
  // The connection to the service.
  'no-terminator',
  'service-refused',
  'service-timeout',
  'control-away',
  'timeout',
  'channel-closed',
  'circuit-closed',
  'overlay',
  'no-answer',
  'answer-timeout',
  'busy',
  'maintenance',
  // The gateway and the control plane.
  'starting',
  'not-decided',
  'control-plane-away',
  'issuer-away',
  'login-not-available',
  'login-provider-failed',
  // The client: its network, its connection, its rate, its cookies, which the answer has cleared.
  'misdirected',
  'head-timeout',
  'body-too-slow',
  'rate-limited',
  'too-many-wrong',
  'login-too-many',
  'too-many-heads',
  'cookies-too-large',
]);

/** A code that is not known here is not retryable. */
export function isRetryable(code: string): boolean {
  return RETRYABLE.has(code);
}
