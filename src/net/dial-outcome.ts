/** What the dialers of services have in common: their time limit, and the reasons of failures. */
import { FrontdoorError } from '#base';
import { isDescriptorShortage } from './descriptor-watch.ts';

/** Bounds one dial of a service. */
export interface DialLimits {
  /** The deadline by `performance.now()`. */
  readonly deadlineMs: number;
  /** Aborted when the circuit is unrouted during the dial. */
  readonly signal: AbortSignal;
}

/** The time that is left for the dial: that of the route, or `connectTimeoutMs` if that is given and less. */
export function dialTimeoutMs(dial: Pick<DialLimits, 'deadlineMs'>, connectTimeoutMs: number): number {
  const routeMs = Math.max(1, dial.deadlineMs - performance.now());
  return connectTimeoutMs > 0 ? Math.min(connectTimeoutMs, routeMs) : routeMs;
}

/** Controllers send the text to the dialer, so that it contains no address. The cause does. */
export function dialFailure(error: NodeJS.ErrnoException): FrontdoorError {
  if (error instanceof FrontdoorError) return error;
  const text = `cannot connect to the service: ${error.code ?? 'failed'}`;
  const cause = { cause: error };
  if (error.syscall === 'getaddrinfo') return new FrontdoorError('badGateway', 'name-not-found', text, cause);
  switch (error.code) {
    case 'ECONNREFUSED':
      return new FrontdoorError('badGateway', 'connection-refused', text, cause);
    case 'ETIMEDOUT':
      return new FrontdoorError('timeout', 'dial-timeout', text, cause);
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOBUFS':
      isDescriptorShortage(error);
      return new FrontdoorError('limited', 'no-sockets', text, cause);
    default:
      return new FrontdoorError('badGateway', 'dial-failed', text, cause);
  }
}
