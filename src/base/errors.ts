/**
 * The table of error kinds. A part lists its codes once and throws or returns `FrontdoorError`s. HTTP statuses,
 * wire numbers and exit codes are derived from the kind alone, where the error leaves the program.
 */
export const ERROR_KINDS = {
  invalid: { status: 400, exitCode: 2 },
  unauthenticated: { status: 401, exitCode: 3 },
  forbidden: { status: 403, exitCode: 4 },
  notFound: { status: 404, exitCode: 5 },
  wrongMethod: { status: 405, exitCode: 2 },
  /** A request that did not arrive in time. */
  requestTimeout: { status: 408, exitCode: 8 },
  conflict: { status: 409, exitCode: 6 },
  preconditionFailed: { status: 412, exitCode: 6 },
  tooLarge: { status: 413, exitCode: 2 },
  unsupportedType: { status: 415, exitCode: 2 },
  misdirected: { status: 421, exitCode: 2 },
  limited: { status: 429, exitCode: 7 },
  headTooLarge: { status: 431, exitCode: 2 },
  internal: { status: 500, exitCode: 70 },
  badGateway: { status: 502, exitCode: 8 },
  unavailable: { status: 503, exitCode: 8 },
  timeout: { status: 504, exitCode: 8 },
  /** A peer violated the protocol. Only its channel is closed. */
  protocol: { status: 502, exitCode: 8 },
} as const;

export type ErrorKind = keyof typeof ERROR_KINDS;

/** An expected failure with a stable code. `message` may be shown to the caller; `cause` is only logged. */
export class FrontdoorError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;

  constructor(kind: ErrorKind, code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'FrontdoorError';
    this.kind = kind;
    this.code = code;
  }

  get status(): number {
    return ERROR_KINDS[this.kind].status;
  }
}

/** Returns the text of any thrown value, for logs. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
