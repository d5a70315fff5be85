/** An entry of the request log as a gateway reports it, for tests. */
import type { LoggedRequest } from '#domain/gateway-shapes';

const timings = { decidedMs: 0.1, circuitMs: 2.5, firstByteMs: null, doneMs: 30.25 };

export function loggedOf(id: string, more: Partial<LoggedRequest> = {}): LoggedRequest {
  return {
    id,
    at: 1_700_000_000_000,
    shareId: 'share',
    frontdoorId: 'what the gateway says',
    outcome: 'served',
    status: 200,
    method: 'GET',
    host: 'app.share.localhost',
    path: '/orders',
    client: '192.0.2.7',
    identity: null,
    providerId: null,
    decision: 'open',
    code: null,
    hop: null,
    cause: null,
    traceId: null,
    bytesIn: 5,
    bytesOut: 6,
    timings,
    leftOut: 0,
    ...more,
  };
}
