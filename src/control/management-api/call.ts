/** What handlers of operations are given and give back; HTTP stays outside. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Clock, Log } from '#base';
import type { BodyOf, Operation, OperationId, ParameterOf } from '#contract';
import type { EgressClient } from '#net';
import {
  appendAudit,
  earlyHead,
  type AuditEntry,
  type AuditFollowers,
  type AuditTarget,
} from '../audit/mod.ts';
import type { GatewayCommands, OverlayModel, StatusBoard } from '../model/mod.ts';
import type { LoginFailures, Principal, TokenKeys, TokenPolicy, TrustedIssuers } from '../oauth/mod.ts';
import type { IdentityKeys } from '../login/mod.ts';
import type { FabricView, OverlayRouter } from '../overlay/mod.ts';
import type { ControlPlanePresence } from '../replica/mod.ts';
import type { Secrets } from '../secrets/mod.ts';
import type { AccessDirectory, GrantedFrontdoor, Store, StoreTransaction, Touch } from '../store/mod.ts';
import type { ReadBody } from './body-reader.ts';
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

/** What the control plane knows of the installation beyond the database. */
export interface InstallationView {
  /** Port of HTTPS as browsers see it; undefined: not known here. */
  readonly securePort: () => number | undefined;
  readonly edgeApiUrl: () => string;
  /** Over the same database. */
  readonly controlPlanes: () => readonly ControlPlanePresence[];
  /** The way to what others name. */
  readonly egress: Pick<EgressClient, 'get'>;
}

/** What the operations work with. Each file of them names the few parts that it uses, and can be tested with these alone. */
export interface ApiParts {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly model: OverlayModel;
  readonly status: StatusBoard;
  readonly fabric: FabricView;
  readonly gatewayCommands: Pick<GatewayCommands, 'send'>;
  /** Connected anywhere, to this control plane or another over the same database. */
  readonly edgeRouters: () => readonly OverlayRouter[];
  readonly keys: TokenKeys;
  /** What gateways tell origins about callers is signed with these. */
  readonly originKeys: Pick<IdentityKeys, 'published'>;
  readonly access: AccessDirectory;
  readonly issuers?: TrustedIssuers | undefined;
  readonly loginFailures: LoginFailures;
  readonly clock: Clock;
  readonly log: Log;
  readonly mintEnrollmentJwt: MintEnrollmentJwt;
  /** The URLs under which gateways serve a host. */
  readonly frontendUrls: (host: string) => readonly string[];
  readonly installation: InstallationView;
  readonly agentEnrollmentTtlMs: number;
  readonly fabricEnrollmentTtlMs: number;
  readonly auditFollowers: AuditFollowers;
  readonly baseUrl: () => string;
  readonly tokenPolicy: () => TokenPolicy;
}

/** What every change works with: it is one transaction with its audit event. */
export type ChangeParts = Pick<ApiParts, 'store' | 'secrets' | 'clock'>;

/** The same for creations, whose answers name the URL of what they made. */
export type CreationParts = ChangeParts & Pick<ApiParts, 'baseUrl'>;

/** One request. `Parameter`: the names of the parameters in the operation's path. */
export interface Call<Body = unknown, Parameter extends string = never> {
  readonly operation: Operation;
  /** The client's address: of its connection, whatever headers say. */
  readonly address: string;
  readonly parameters: Readonly<Record<Parameter, string>>;
  readonly query: Query;
  /** Checked against the operation's schema; undefined when it reads none. */
  readonly body: Body;
  /** Only for operations that read bodies of their own. */
  readonly request: IncomingMessage;
  readonly readBody: ReadBody;
  readonly authorization: readonly string[];
  /** Throws when the operation asks for no credentials. */
  readonly principal: Principal;
  /** Proves the credential once more, for answers that go on for long. Throws what it is refused with by now. */
  readonly proveAgain: () => Promise<Principal>;
  /** The frontdoor of the path, granted to the caller. Throws when the path names none. */
  readonly frontdoor: GrantedFrontdoor;
}

export interface ApiAnswer {
  readonly status: number;
  /** Undefined: no body. */
  readonly body?: unknown;
  /** In place of `body`, for what is no JSON: a text, or bytes as they come. */
  readonly raw?: { readonly contentType: string; readonly data: string | Readable };
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a change did, for its caller and for the audit trail. */
export interface Changed<T> {
  readonly result: T;
  readonly target: AuditTarget;
  /** The resource as the API showed it before; undefined when it is new. */
  readonly before?: unknown;
  /** As it shows it now; undefined when it is gone. */
  readonly after?: unknown;
  /** Organization whose audit trail records the change, when it is not the caller's. */
  readonly organizationId?: string;
}

/** Nothing was changed: the audit trail records no event. */
export interface Unchanged<T> {
  readonly result: T;
  readonly target?: undefined;
}

/** One transaction with its audit event: what is acknowledged is recorded, what fails leaves nothing. */
export function change<T>(
  parts: ChangeParts,
  call: Call,
  work: (trx: StoreTransaction, touch: Touch) => Promise<Changed<T> | Unchanged<T>>,
): Promise<T> {
  const { principal } = call;
  return parts.store.transaction(async (trx, touch) => {
    const head = earlyHead(trx, principal.organizationId);
    const changed = await work(trx, touch);
    if (changed.target === undefined) return changed.result;
    const { result, target, before, after, organizationId } = changed;
    const entry: AuditEntry = {
      organizationId: organizationId ?? principal.organizationId,
      actor: { kind: principal.kind, id: principal.id },
      action: call.operation.id,
      target,
      before,
      after,
      address: call.address,
      result: 'ok',
    };
    await appendAudit(trx, touch, parts.secrets, entry, parts.clock.nowMs(), head);
    return result;
  });
}

/** Does what an operation is asked for. The operation's row in the contract gives the types of body and parameters. */
export type Handler<Parts, Id extends OperationId> = (
  parts: Parts,
  call: Call<BodyOf<Id>, ParameterOf<Id>>,
) => Promise<ApiAnswer>;

export type Handlers<Parts, Ids extends OperationId> = { readonly [Id in Ids]: Handler<Parts, Id> };

export function ok(body: unknown): ApiAnswer {
  return { status: 200, body };
}

export function created(parts: Pick<ApiParts, 'baseUrl'>, path: string, body: unknown): ApiAnswer {
  return { status: 201, body, headers: { location: parts.baseUrl() + path } };
}

/** Shows what nothing on the way may keep: a secret, or what is true at this moment only. */
export function unstored(answer: ApiAnswer): ApiAnswer {
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } };
}

export const gone: ApiAnswer = { status: 204 };

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
