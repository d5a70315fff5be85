export { ERROR_KINDS, FrontdoorError, messageOf, type ErrorKind } from './errors.ts';
export { silentLog, type Log, type LogFields } from './log.ts';
export { ForwardClock, ManualClock, systemClock, type Clock } from './clock.ts';
export { BackOff, type BackOffOptions } from './back-off.ts';
export { textOf, utf8 } from './text.ts';
export { bytesOfHex, concatBytes, EMPTY_BYTES, equalBytes, hexOf } from './bytes.ts';
export { base62 } from './base62.ts';
export { nearestNames } from './nearest-names.ts';
export { formatHostPort, isLoopbackHost } from './host-names.ts';
