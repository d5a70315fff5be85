/** What handlers of operations are given and give back; HTTP stays outside. */
import type { IncomingMessage } from 'node:http';
import type { Clock, Log } from '#base';
import type { OperationId } from '#contract';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { StatusBoard } from '../model/share-status.ts';
import type { Principal, TokenPolicy } from '../oauth/principal.ts';
import type { TokenKeys } from '../oauth/token-keys.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { GrantedFrontdoor } from '../store/frontdoor-store.ts';
import type { Store } from '../store/store.ts';
import type { Query } from './page-query.ts';

/** Makes the JWT that a machine enrolls with. */
export type MintEnrollmentJwt = (claims: {
  /** The identity's id. */
  readonly subject: string;
  /** The one-time token. */
  readonly jti: string;
  readonly method: 'ott' | 'erott';
  readonly expiresAtMs: number;
}) => Promise<string>;

/** What the operations work with. */
export interface ApiParts {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly model: OverlayModel;
  readonly status: StatusBoard;
  readonly keys: TokenKeys;
  readonly clock: Clock;
  readonly log: Log;
  readonly mintEnrollmentJwt: MintEnrollmentJwt;
  /** The URLs under which gateways serve a host. */
  readonly frontendUrls: (host: string) => readonly string[];
  readonly agentEnrollmentTtlMs: number;
  readonly fabricEnrollmentTtlMs: number;
  readonly baseUrl: () => string;
  readonly tokenPolicy: () => TokenPolicy;
}

export interface Call {
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: Query;
  /** Checked against the operation's schema; undefined when it reads none. */
  readonly body: unknown;
  /** Only for operations that read bodies of their own. */
  readonly request: IncomingMessage;
  readonly authorization: readonly string[];
  /** Throws when the operation asks for no credentials. */
  readonly principal: Principal;
  /** The frontdoor of the path, granted to the caller. Throws when the path names none. */
  readonly frontdoor: GrantedFrontdoor;
}

export interface Answer {
  readonly status: number;
  /** Undefined: no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler = (parts: ApiParts, call: Call) => Promise<Answer>;

export type Handlers<Id extends OperationId> = Readonly<Record<Id, Handler>>;

export function ok(body: unknown): Answer {
  return { status: 200, body };
}

export function created(parts: ApiParts, path: string, body: unknown): Answer {
  return { status: 201, body, headers: { location: parts.baseUrl() + path } };
}

export const gone: Answer = { status: 204 };

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
