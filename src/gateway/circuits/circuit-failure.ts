/**
 * Failures of a circuit that could not be made, or broke, as the client sees them. The hop is the one that the
 * overlay reported.
 */
import type { CircuitError } from '#sdk';
import { serviceFailure, type Failure } from '../answers/failure-table.ts';
import type { GatewayRoute, Upstream } from './upstream.ts';

const CIRCUIT_FAILURES: Readonly<Record<CircuitError['code'], { status: number; message: string }>> = {
  'no-terminator': {
    status: 503,
    message: 'The service is not connected at the moment. Please try again later.',
  },
  'service-refused': { status: 502, message: 'The service behind this address does not accept connections.' },
  'service-timeout': { status: 504, message: 'The service behind this address did not respond in time.' },
  'not-authorized': { status: 503, message: 'This service is not available here.' },
  'control-away': {
    status: 503,
    message: 'No connection to the service can be made at the moment. Please try again shortly.',
  },
  timeout: { status: 504, message: 'No connection to the service could be made in time.' },
  'channel-closed': {
    status: 503,
    message: 'The connection to the service is interrupted. Please try again shortly.',
  },
  'circuit-closed': { status: 502, message: 'The connection to the service was lost.' },
  overlay: { status: 502, message: 'No connection to the service could be made.' },
};

/**
 * Whether the loss of a circuit may have nothing to do with the request that it carried: the service closed an idle circuit
 * at that moment, a router was lost, or the overlay took a new circuit back before the agent had all of the request.
 */
export function mayBeRepeated(upstream: Upstream, error: CircuitError | undefined): boolean {
  const { uses, surelyOpenUntilMs, circuit } = upstream;
  const wasIdle = uses > 0 || surelyOpenUntilMs >= 0;
  if (wasIdle || error?.code === 'channel-closed') return true;
  return error?.code === 'circuit-closed' && circuit.isDelivered === false;
}

/**
 * Whether a request may be sent over another circuit: it changes nothing and has no body, or its service of HTTP/2 reports that
 * it has not begun with it.
 */
export function maySendAgain(
  { isRepeatable, isKept }: { readonly isRepeatable: boolean; readonly isKept: boolean },
  { http2, revoked }: GatewayRoute,
  upstream: Upstream | undefined,
): boolean {
  const isUnseen = http2 !== undefined && isKept && upstream?.circuit.isDelivered === false;
  return (isRepeatable || isUnseen) && !revoked;
}

export function failureOfCircuit(error: CircuitError): Failure {
  const { status, message } = CIRCUIT_FAILURES[error.code];
  return { status, code: error.code, hop: error.hop, message, cause: error.message };
}

/** A circuit closed before the response was complete. `cause` is for a circuit that reported no error. */
export function failureOfLoss(cause: string, error: CircuitError | undefined): Failure {
  return error === undefined ? serviceFailure(502, 'no-answer', cause) : failureOfCircuit(error);
}
