/**
 * Error responses of the Management API: a status and a body of exactly `error` and `message`. `error` follows
 * from the error's kind; if a status has two codes (403), the error's code selects one.
 */
import { randomBytes } from 'node:crypto';
import { FrontdoorError, type ErrorKind, type Log } from '#base';
import { failAlone } from '#net';
import { API_ERRORS } from '#contract';
import { apiSpelling } from '#domain';
import { PasswordQueueFull } from '../../credentials/passwords/mod.ts';

export interface ApiRefusal {
  readonly status: number;
  readonly body: { readonly error: string; readonly message: string };
  readonly headers?: Readonly<Record<string, string>>;
}

/** A code says which word a `forbidden` error gets; other kinds have one word each. */
const WORDS: ReadonlyMap<ErrorKind, string> = new Map(
  Object.entries(API_ERRORS).flatMap(([word, { kind }]) =>
    [kind].flat().map((each) => [each, word] as const),
  ),
);

/** How long a part that restarts, or a frozen one that is given up, takes at least. */
const UNAVAILABLE_RETRY_S = '2';

/** Codes that callers can act on. */
const SHOWN_CODES = new Set([
  'store-unavailable',
  'store-damaged',
  'store-contended',
  'commit-unknown',
  'no-gateway',
]);

/** A refusal with headers of its own. */
export class RefusalError extends FrontdoorError {
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: ErrorKind, code: string, message: string, headers: Readonly<Record<string, string>>) {
    super(kind, code, message);
    this.headers = headers;
  }
}

export function malformedAuthorization(): FrontdoorError {
  const forms = 'Bearer <ACCESS_TOKEN> or Basic <ACCOUNT_ID>:<API_TOKEN>';
  return new FrontdoorError(
    'invalid',
    'malformed-authorization',
    `Value for Authorization must be of ${forms}`,
  );
}

export function unauthorized(): FrontdoorError {
  return new RefusalError('unauthenticated', 'unauthorized', 'Bearer token is missing or invalid', {
    'www-authenticate': 'Bearer',
  });
}

/** Answers alike for a resource that does not exist and for one of another organization. */
export function notGranted(what: 'Frontdoor' | 'Organization', id: string): FrontdoorError {
  return new FrontdoorError('forbidden', 'not-found', `${what} ${id} not found`);
}

export function insufficientScope(scope: string): FrontdoorError {
  return new FrontdoorError('forbidden', 'insufficient-scope', `The scope ${scope} is required`);
}

/** The session is valid, and the operation asks for a younger proof of who uses it. */
export function logInTooOld(): FrontdoorError {
  const message = 'Sign in again: this needs a sign-in of the last 15 minutes';
  return new FrontdoorError('forbidden', 'log-in-too-old', message);
}

export function notFound(
  what:
    | 'Environment'
    | 'Enrollment'
    | 'Agent'
    | 'Share'
    | 'Failure'
    | 'Request'
    | 'Session'
    | 'Router'
    | 'Gateway'
    | 'Circuit'
    | 'Service'
    | 'Terminator'
    | 'Custom frontend'
    | 'Policy'
    | 'Domain'
    | 'Hostname claim'
    | 'Auth provider'
    | 'Auth provider type'
    | 'Resting name'
    | 'API account'
    | 'Person'
    | 'Second factor'
    | 'Invitation'
    | 'Console sign-in'
    | 'Notification destination'
    | 'Delivery'
    | 'OAuth client'
    | 'Previous secret'
    | 'Previous token',
  id: string,
): FrontdoorError {
  return new FrontdoorError('notFound', 'not-found', `${what} ${id} not found`);
}

export function tooMany(retryAfterSeconds: number): FrontdoorError {
  return new RefusalError('limited', 'rate-limited', 'Too many requests', {
    'retry-after': String(retryAfterSeconds),
  });
}

export function noSuchPath(): FrontdoorError {
  return new FrontdoorError('notFound', 'not-found', 'There is nothing at this path');
}

/** For paths below `/console` at a control plane without a console. */
export function noConsole(): FrontdoorError {
  const message = 'The console is switched off at this control plane (--console off)';
  return new FrontdoorError('notFound', 'not-found', message);
}

/** For requests whose path a proxy has changed, or that know another one. */
export function consoleElsewhere(prefix: string): FrontdoorError {
  const message = `The console is at ${prefix}/console. A proxy has to pass on the path of --public-api-url`;
  return new FrontdoorError('notFound', 'not-found', message);
}

export function notJson(): FrontdoorError {
  return new FrontdoorError(
    'unsupportedType',
    'unsupported-media-type',
    'Content-Type must be application/json',
  );
}

/** Converts a thrown value to a response. An unexpected error gets an error id, which is also in the log. */
export function refusalOf(thrown: unknown, operation: string, log: Log): ApiRefusal {
  const error = thrown instanceof PasswordQueueFull ? tooMany(thrown.retryAfterSeconds) : thrown;
  if (error instanceof FrontdoorError && error.kind !== 'internal') {
    const headers = headersOf(error);
    if (error.kind === 'forbidden') {
      return { status: 403, body: { error: apiSpelling(error.code), message: error.message }, ...headers };
    }
    const word = WORDS.get(error.kind);
    if (error.kind === 'unavailable')
      log.warn({ operation, cause: causeOf(error) }, 'refused: a part is unavailable');
    if (error.code === 'unique-violation' || error.code === 'foreign-key-violation') {
      return {
        status: 409,
        body: { error: 'conflict', message: 'Something changed in the meantime; try again' },
      };
    }
    if (word !== undefined)
      return { status: error.status, body: { error: word, message: sentence(error) }, ...headers };
  }
  const errorId = randomBytes(8).toString('hex');
  log.error({ errorId, operation, cause: causeOf(error) }, 'an operation of the Management API failed');
  failAlone({ kind: 'request', id: errorId, log }, error);
  return { status: 500, body: { error: 'internal', message: `Internal error ${errorId}` } };
}

function headersOf(error: FrontdoorError): Pick<ApiRefusal, 'headers'> {
  if (error instanceof RefusalError) return { headers: error.headers };
  return error.kind === 'unavailable' ? { headers: { 'retry-after': UNAVAILABLE_RETRY_S } } : {};
}

/**
 * The reason for unavailability is only included for the database, whose operator often reads it here first, and
 * for gateways.
 */
function sentence({ kind, code, message }: FrontdoorError): string {
  if (kind !== 'unavailable') return message;
  if (!SHOWN_CODES.has(code)) return 'The service is not available at the moment';
  return message.charAt(0).toUpperCase() + message.slice(1);
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause =
    error.cause === undefined ? '' : `: ${error.cause instanceof Error ? error.cause.message : ''}`;
  return `${error.stack ?? error.message}${cause}`;
}
