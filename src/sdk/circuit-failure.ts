/** Derives why a dial failed from the codes that the overlay sends, never from its texts. */
import { headerId, textOfBody, type Frame } from '#wire';
import { EdgeErrorCode, RouteErrorCode } from '#wire/circuits';
import { CircuitError, type CircuitErrorCode } from './circuit.ts';

type Failure = readonly [code: CircuitErrorCode, hop: CircuitError['hop']];

const BY_ROUTE_CODE: ReadonlyMap<number, Failure> = new Map<number, Failure>([
  [RouteErrorCode.invalidTerminator, ['no-terminator', 'agent']],
  [RouteErrorCode.dialTimeout, ['service-timeout', 'agent']],
  [RouteErrorCode.connectionRefused, ['service-refused', 'service']],
  [RouteErrorCode.rejectedByApplication, ['service-refused', 'agent']],
  [RouteErrorCode.dnsFailed, ['service-refused', 'service']],
  [RouteErrorCode.resourcesNotAvailable, ['no-terminator', 'agent']],
]);

const BY_EDGE_CODE: ReadonlyMap<number, Failure> = new Map<number, Failure>([
  [EdgeErrorCode.invalidApiSession, ['not-authorized', 'control']],
  [EdgeErrorCode.invalidSession, ['not-authorized', 'control']],
  [EdgeErrorCode.wrongSessionType, ['not-authorized', 'control']],
  [EdgeErrorCode.invalidService, ['not-authorized', 'control']],
  [EdgeErrorCode.invalidTerminator, ['no-terminator', 'agent']],
  [EdgeErrorCode.noController, ['control-away', 'control']],
]);

/** For the StateClosed that answers a Connect. */
export function dialFailure(answer: Frame): CircuitError {
  const routeCode = answer.headers.u8(headerId.ctrl.routeErrorCode);
  const edgeCode = answer.headers.u32(headerId.edge.errorCode);
  const failure =
    (routeCode === undefined ? undefined : BY_ROUTE_CODE.get(routeCode)) ??
    (edgeCode === undefined ? undefined : BY_EDGE_CODE.get(edgeCode));
  const [code, hop] = failure ?? ['overlay', 'router'];
  return new CircuitError(code, hop, textOfBody(answer) || 'the overlay refused the dial');
}
