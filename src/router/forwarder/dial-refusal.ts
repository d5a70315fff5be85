/** The reasons for a failed dial, with the codes that its originator receives. */
import { FrontdoorError } from '#base';
import { FrameHeaders, HeaderWriter, headerId, type Frame } from '#wire';
import { decodeEdgeRefusal, EdgeErrorCode, RouteErrorCode } from '#wire/circuits';

const { ctrl, edge } = headerId;

/** Codes after which the controller deletes or lowers the terminator for good. */
const FINAL_CODES: ReadonlySet<number> = new Set([
  RouteErrorCode.invalidTerminator,
  RouteErrorCode.misconfiguredTerminator,
]);

/**
 * A host refused a circuit. Our agents also send a route error code. A host does not decide about its terminator, which
 * another process of it may host by now, so a final code becomes one for the moment.
 */
export class HostRefusal extends FrontdoorError {
  readonly routeCode: number;

  constructor(reason: string, routeCode: number = RouteErrorCode.generic) {
    super('badGateway', 'dial-refused', reason || 'the host refused');
    this.routeCode = FINAL_CODES.has(routeCode) ? RouteErrorCode.resourcesNotAvailable : routeCode;
  }
}

/**
 * The channel of the host ended during its dial. `isBound`: the terminator still has a bind, which its host may have made
 * on a newer channel, so that another dial reaches it.
 */
export function hostGone(isBound: boolean): FrontdoorError {
  const text = 'the host has disconnected';
  return isBound
    ? new HostRefusal(text, RouteErrorCode.resourcesNotAvailable)
    : new FrontdoorError('notFound', 'unknown-terminator', text);
}

/** The controller refused a circuit. */
export class CircuitRefusal extends Error {
  /** Returns the codes of the refusal as headers for the SDK. */
  readonly codes: FrameHeaders;

  constructor(answer: Frame) {
    super(decodeEdgeRefusal(answer).text);
    const codes = new HeaderWriter();
    for (const key of [edge.errorCode, ctrl.routeErrorCode]) {
      const value = answer.headers.bytes(key);
      if (value !== undefined) codes.bytes(key, value);
    }
    this.codes = codes.build();
  }
}

/** Returns headers for the SDK whose dial failed. Only SDKs of Frontdoor get the code for a router without a controller. */
export function refusalCodes(error: unknown, isOurs: boolean): FrameHeaders {
  if (error instanceof CircuitRefusal) return error.codes;
  const isAlone = error instanceof FrontdoorError && error.code === 'no-controller';
  if (!isAlone || !isOurs) return FrameHeaders.empty;
  return new HeaderWriter().u32(edge.errorCode, EdgeErrorCode.noController).build();
}
