/** A refused request, or one without an answer. */

export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** 0 if there was no answer. */
  readonly status: number;
  /** The word of the registry of errors: `conflict`, `not_found`. */
  readonly code: string;
  /** Seconds after which a repetition may succeed, if the server gave them. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, code: string, message: string, retryAfterSeconds?: number) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** The id under which the log has the cause, which the message of an internal error ends with. */
  get errorId(): string | undefined {
    return this.status >= 500 ? /\b[0-9a-f]{16}\b/.exec(this.message)?.[0] : undefined;
  }

  /** The field of the form that the message is about, with the fields of nested objects joined by dots. */
  get field(): string | undefined {
    return fieldOf(this.message);
  }
}

/** The API names the field as `Value for <property> …`, `Missing value for <property>` or `Unknown property <property>`. */
export function fieldOf(message: string): string | undefined {
  return /\b(?:value for|property) ([\w.[\]-]+)/i.exec(message)?.[1];
}

export function isApiError(error: unknown, ...statuses: readonly number[]): error is ApiError {
  return error instanceof ApiError && (statuses.length === 0 || statuses.includes(error.status));
}
