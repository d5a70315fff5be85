export { addressKey, networkKey } from './address-key.ts';
export { errorsSince, type ErrorRow, type ErrorTable } from './error-row.ts';
export { ERROR_KINDS, FrontdoorError, messageOf, type ErrorKind } from './errors.ts';
export {
  countDroppedLogLine,
  countedLogLines,
  countLogLine,
  droppedLogLines,
  silentLog,
  type Log,
  type LogFields,
  LOG_LEVELS,
  type LogLevel,
} from './log.ts';
export { ForwardClock, LeaseClock, ManualClock, systemClock, type Clock } from './clock.ts';
export { RunningClock } from './running-clock.ts';
export { BackOff, type BackOffOptions } from './back-off.ts';
export { isShortAscii, textOf, utf8, writeAscii } from './text.ts';
export { bytesOfHex, concatBytes, EMPTY_BYTES, equalBytes, hexOf } from './bytes.ts';
export { escapeHtml } from './html-text.ts';
export { copyOf, keptBytes, keptSize } from './kept-bytes.ts';
export { base62 } from './base62.ts';
export { definedFields, fieldsOf, type DefinedFields } from './defined-fields.ts';
export { isJsonObject, textsOf } from './json-object.ts';
export { lazy } from './lazy.ts';
export { FILE_EXIT_STATUS, fileExitStatus } from './file-exit-status-table.ts';
export { misspelledName, nearestNames } from './nearest-names.ts';
export { bareHost, formatHostPort, isLoopbackHost, readHostPort, type HostPort } from './host-names.ts';
export { FailedNetworks } from './failed-networks.ts';
export { AttemptLimits, type AttemptRate } from './attempt-limits.ts';
export { TokenBuckets, type BucketRate } from './token-buckets.ts';
export { DURATION_PATTERN, formatGoDuration, parseGoDuration } from './go-duration.ts';
export { orderedRange } from './ordered-range.ts';
export { setHandlers } from './set-handlers.ts';
export { HIDDEN, Secret, secretOf, withoutUserInfo } from './secret.ts';
export { ShortLivedMap } from './short-lived-map.ts';
export { newNumber, ShortLivedSet, type Numbered } from './short-lived-set.ts';
export { WorkerPool, type Work, type WorkerPoolOptions } from './worker-pool.ts';
export { clockProblem, validityProblem, type Validity } from './validity.ts';
