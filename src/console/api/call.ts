/**
 * Calls operations of the Management API below `/console/api`, with the session of this browser. Parameters, body and
 * answer have the types of the operation's row in the contract.
 */
import type { AnswerOf, BodyOf, OperationId, ParameterOf } from '#contract';
import { OPERATIONS } from 'frontdoor:operations';
import { place } from '../place.ts';
import { ApiError } from './api-error.ts';
import { ServerClock } from './server-clock.ts';
import { noteSessionEnd } from './session-end.ts';

export type QueryValue = string | number | boolean | undefined;

interface Common {
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, QueryValue>> | undefined;
  /** The tag of the resource as it was read: a change of someone else's is refused with 412 and not overwritten. */
  readonly ifMatch?: string | undefined;
  /** Repetitions with one key create one resource. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

type ParametersPart<Id extends OperationId> = [ParameterOf<Id>] extends [never]
  ? { readonly parameters?: undefined }
  : { readonly parameters: Readonly<Record<ParameterOf<Id>, string>> };

type BodyPart<Id extends OperationId> =
  BodyOf<Id> extends undefined ? { readonly body?: undefined } : { readonly body?: BodyOf<Id> };

export type CallInput<Id extends OperationId> = Common & ParametersPart<Id> & BodyPart<Id>;

export interface AnsweredCall<Id extends OperationId> {
  readonly body: AnswerOf<Id>;
  readonly etag: string | undefined;
}

/** Asks the person to log in again. Resolves when that was done; rejects when the person does not want to. */
export type RenewSession = (reason: 'ended' | 'too-old') => Promise<void>;

const TIMEOUT_MS = 30_000;
const TOO_OLD = 'log_in_too_old';

export class Api {
  readonly clock = new ServerClock();
  #renewSession: RenewSession = () => Promise.reject(new Error('no session'));
  #onOtherBuild: () => void = () => undefined;
  #changesAfter = '';

  /** The frame of the console shows the dialog. */
  onSessionEnd(renew: RenewSession): void {
    this.#renewSession = renew;
  }

  /** Called when the control plane serves another build of the console than the one that runs. */
  onNewBuild(act: () => void): void {
    this.#onOtherBuild = act;
  }

  /** The position in the log of changes before the first answer was made; '' before it. */
  get changesAfter(): string {
    return this.#changesAfter;
  }

  async call<Id extends OperationId>(id: Id, input: CallInput<Id>): Promise<AnsweredCall<Id>> {
    const response = await this.#requested(id, input);
    const text = await response.text();
    return {
      body: (text === '' ? undefined : JSON.parse(text)) as AnswerOf<Id>,
      etag: response.headers.get('etag') ?? undefined,
    };
  }

  /** Like `call`, for answers that are no JSON: exports and backups. */
  async callForFile<Id extends OperationId>(id: Id, input: CallInput<Id>): Promise<Blob> {
    const response = await this.#requested(id, input, null);
    return response.blob();
  }

  /** Resolves if the control plane accepts the session, and rejects with its refusal, or if it does not answer. */
  async askSession(): Promise<void> {
    this.#noteBuild(await acceptedSession());
  }

  /** Asks for another log-in, after the session has ended. */
  renewEndedSession(): Promise<void> {
    return this.#renewSession('ended');
  }

  /** Returns the answer of a request that succeeded. `timeoutMs` null: for as long as the answer takes. */
  async #requested<Id extends OperationId>(
    id: Id,
    input: CallInput<Id>,
    timeoutMs: number | null = TIMEOUT_MS,
  ): Promise<Response> {
    for (;;) {
      const response = await sent(id, input, timeoutMs);
      this.#noteBuild(response);
      this.clock.note(response);
      if (this.#changesAfter === '')
        this.#changesAfter = response.headers.get('frontdoor-change-position') ?? '';
      if (response.ok) return response;
      const error = await errorOf(response);
      if (error.status === 401) {
        noteSessionEnd();
        await this.#renewSession('ended');
      } else if (error.code === TOO_OLD) await this.#renewSession('too-old');
      else throw error;
    }
  }

  #noteBuild({ headers }: Response): void {
    const build = headers.get('frontdoor-console-build');
    if (build !== null && build !== '' && place.build !== '' && build !== place.build) this.#onOtherBuild();
  }
}

/** Throws the refusal of the session. */
export async function acceptedSession(): Promise<Response> {
  const response = await sent('getCaller', {}, TIMEOUT_MS);
  if (!response.ok) throw await errorOf(response);
  return response;
}

/** Ends the session of this browser. */
export async function endSession(): Promise<void> {
  const response = await reached(`${place.base}/log-out`, {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  // The redirect leads to the log-in, and is not followed here.
  if (response.type !== 'opaqueredirect') throw await errorOf(response);
}

/** The address of an operation, for links and streams. */
export function addressOf<Id extends OperationId>(id: Id, input: CallInput<Id>): string {
  const parameters = (input.parameters ?? {}) as Readonly<Record<string, string>>;
  const path = OPERATIONS[id].path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(parameters[name] ?? ''),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {}))
    if (value !== undefined && value !== '') query.set(name, String(value));
  const search = query.size === 0 ? '' : `?${query}`;
  return `${place.base}/api${path}${search}`;
}

async function sent<Id extends OperationId>(
  id: Id,
  input: CallInput<Id>,
  timeoutMs: number | null,
): Promise<Response> {
  const { method } = OPERATIONS[id];
  const headers: Record<string, string> = {};
  if (method !== 'GET') headers['frontdoor-console'] = '1';
  if (input.body !== undefined) headers['content-type'] = 'application/json';
  if (input.ifMatch !== undefined) headers['if-match'] = input.ifMatch;
  if (input.idempotencyKey !== undefined) headers['idempotency-key'] = input.idempotencyKey;
  const signals = [
    ...(timeoutMs === null ? [] : [AbortSignal.timeout(timeoutMs)]),
    ...(input.signal === undefined ? [] : [input.signal]),
  ];
  return reached(
    addressOf(id, input),
    {
      method,
      headers,
      redirect: 'error',
      signal: AbortSignal.any(signals),
      ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    },
    input.signal,
  );
}

/** Fetches with the session of this browser; throws an `ApiError` of status 0 without an answer, unless the caller gave up. */
async function reached(address: string, init: RequestInit, givenUp?: AbortSignal): Promise<Response> {
  try {
    return await fetch(address, { ...init, credentials: 'same-origin', cache: 'no-store' });
  } catch (error) {
    if (givenUp?.aborted === true) throw error;
    const timedOut = error instanceof DOMException && error.name === 'TimeoutError';
    throw new ApiError(0, timedOut ? 'no_answer' : 'not_reached', '');
  }
}

async function errorOf(response: Response): Promise<ApiError> {
  const after = Number(response.headers.get('retry-after') ?? '');
  const retryAfter = Number.isFinite(after) && after > 0 ? after : undefined;
  try {
    const body = (await response.json()) as { readonly error?: unknown; readonly message?: unknown };
    const [code, message] = [body.error, body.message].map((value) =>
      typeof value === 'string' ? value : '',
    );
    return new ApiError(response.status, code ?? '', message ?? '', retryAfter);
  } catch {
    return new ApiError(response.status, '', '', retryAfter);
  }
}
