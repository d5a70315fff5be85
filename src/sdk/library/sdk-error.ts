/** The errors of the library: each has a stable code, a kind and a remedy from the registry of errors. */
import { FrontdoorError, messageOf, type ErrorKind, type ErrorRow } from '#base';
import { CIRCUIT_ERRORS, EDGE_ERRORS, ERRORS_BY_PART } from '#contract/errors';
import { CircuitError } from '../circuit.ts';

/** The part that failed. */
export type FailedPart = CircuitError['hop'];

const ROWS: Readonly<Record<string, ErrorRow>> = {
  ...EDGE_ERRORS,
  ...CIRCUIT_ERRORS,
  ...ERRORS_BY_PART.wire,
  ...ERRORS_BY_PART.domain,
  ...ERRORS_BY_PART.net,
  ...ERRORS_BY_PART.sdk,
};
const UNKNOWN_REMEDY = 'Read the message and its cause; the log of the control plane or the router has more.';

export class SdkError extends Error {
  /** Stable, such as `no-terminator`. `docs/reference/errors.md` explains each. */
  readonly code: string;
  /** A class of errors, such as `unavailable` or `forbidden`. */
  readonly kind: ErrorKind;
  /** A sentence that says what to do. */
  readonly remedy: string;
  /** Which part failed; only for errors of circuits. */
  readonly failedPart: FailedPart | undefined;

  constructor(
    kind: ErrorKind,
    code: string,
    message: string,
    { cause, failedPart }: { readonly cause?: unknown; readonly failedPart?: FailedPart | undefined } = {},
  ) {
    super(message, { cause });
    this.name = 'SdkError';
    this.kind = kind;
    this.code = code;
    this.remedy = ROWS[code]?.remedy ?? UNKNOWN_REMEDY;
    this.failedPart = failedPart;
  }
}

/** Returns errors that are `SdkError`s already, and aborts, unchanged. */
export function sdkErrorOf(error: unknown): Error {
  if (error instanceof SdkError) return error;
  if (error instanceof CircuitError) {
    const { code, hop: failedPart, message } = error;
    return new SdkError(kindOf(code), code, message, { cause: error, failedPart });
  }
  if (error instanceof FrontdoorError)
    return new SdkError(error.kind, error.code, error.message, { cause: error.cause });
  if (error instanceof Error && error.name === 'AbortError') return error;
  return new SdkError('internal', 'unexpected', messageOf(error), { cause: error });
}

function kindOf(code: string): ErrorKind {
  const kind = ROWS[code]?.kind ?? 'internal';
  return typeof kind === 'string' ? kind : kind[0]!;
}
