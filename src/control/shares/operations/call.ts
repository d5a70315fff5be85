/** The arguments and results of operation handlers, independent of HTTP. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Clock, Log } from '#base';
import type { AnswerOf, BodyOf, Operation, OperationId, ParameterOf } from '#contract';
import type { EgressClient } from '#net';
import type { NameRecordLookups } from '#net/names';
import {
  appendAuditAll,
  earlyHead,
  type AuditEntry,
  type AuditFollowers,
  type AuditTarget,
} from '../../audit/mod.ts';
import type { ShareCatalog } from '../catalog/share-catalog.ts';
import type { StateCounts } from '../catalog/state-counts.ts';
import type { ChangeFollowers } from '../changes/change-followers.ts';
import type { EdgeRouter, OverlayModel, StatusBoard } from '../../overlay/model/mod.ts';
import type {
  LoginFailures,
  Principal,
  TokenKeys,
  TokenPolicy,
  TrustedIssuers,
} from '../../credentials/oauth/mod.ts';
import type { EventExporter } from '../event-export/mod.ts';
import type { NotificationSender } from '../notifications/mod.ts';
import type { GatewayCommands } from '../gateway-feed/gateway-commands.ts';
import type { BusiestCache } from '../metrics/busiest-cache.ts';
import type { IdentityKeys } from '../logins/identity-keys.ts';
import type { ProviderDirectory } from '../logins/provider-directory.ts';
import type { FabricView } from '../../overlay/mod.ts';
import type { ControlPlanePresence } from '../../replica/mod.ts';
import type { SealingKeys, Secrets } from '../../secrets/mod.ts';
import {
  touchResource,
  type LastUses,
  type Store,
  type StoreTransaction,
  type Touch,
} from '../../store/mod.ts';
import type { CallerDirectory } from '../../credentials/accounts/mod.ts';
import type { FrontdoorDirectory } from '../records/frontdoor-directory.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import type { ApiRefusal } from './api-errors.ts';
import type { ReadBody } from './body-reader.ts';
import type { Query } from './page-query.ts';
import { checkPresentRights } from './present-rights.ts';

/** Makes the JWT for a machine's enrollment. */
export type MintEnrollmentJwt = (claims: {
  /** Id of the identity. */
  readonly subject: string;
  /** The one-time token. */
  readonly jti: string;
  readonly method: 'ott' | 'erott';
  readonly expiresAtMs: number;
}) => Promise<string>;

/** Facts about the installation that are not in the database. */
export interface InstallationView {
  /** Port of HTTPS as browsers see it; undefined if not known here. */
  readonly securePort: () => number | undefined;
  /** The product's version. */
  readonly version?: string | undefined;
  readonly edgeApiUrl: () => string;
  /** Those over the same database. */
  readonly controlPlanes: () => readonly ControlPlanePresence[];
  /** Fetches addresses that others named. */
  readonly egress: Pick<EgressClient, 'get'>;
  /** What DNS says about names. */
  readonly names: Pick<NameRecordLookups, 'of' | 'txt'>;
}

/**
 * The dependencies of all operations. Each file of operations names the few that it uses, and can be tested with
 * these alone.
 */
export interface ApiParts {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly model: OverlayModel;
  readonly catalog: ShareCatalog;
  readonly status: StatusBoard;
  /** The states of `status`, counted as they change. */
  readonly counts: StateCounts;
  /** The mesh as this control plane sees it. */
  readonly fabric: FabricView;
  /** Sends commands to gateways that are connected to this control plane. */
  readonly gatewayCommands: Pick<GatewayCommands, 'send'>;
  /** Routers that are connected to this control plane or another one over the same database. */
  readonly edgeRouters: () => readonly EdgeRouter[];
  readonly keys: TokenKeys;
  /** Keys that sign the identity tokens for origins. */
  readonly originKeys: Pick<IdentityKeys, 'published'>;
  readonly access: CallerDirectory;
  readonly frontdoors: FrontdoorDirectory;
  /** The auth providers of shares. */
  readonly providers: Pick<ProviderDirectory, 'byId'>;
  /** Issuers whose bearer tokens are accepted besides ours. */
  readonly issuers?: TrustedIssuers | undefined;
  readonly loginFailures: LoginFailures;
  readonly clock: Clock;
  readonly log: Log;
  readonly mintEnrollmentJwt: MintEnrollmentJwt;
  /** Returns the URLs under which gateways serve a host. */
  readonly frontendUrls: (host: string) => readonly string[];
  readonly installation: InstallationView;
  /** Sends a message to a destination of notifications at once. */
  readonly notifications: Pick<NotificationSender, 'attempt' | 'hasMail'>;
  /** Sends a test event to the collector at once. */
  readonly eventExport: Pick<EventExporter, 'attempt'>;
  readonly authorities: AuthoritiesView;
  readonly sealing: Pick<SealingKeys, 'prepare' | 'begin' | 'look' | 'state'>;
  readonly agentEnrollmentTtlMs: number;
  readonly fabricEnrollmentTtlMs: number;
  /** By `callerKey`. */
  readonly callerUses: Pick<LastUses, 'saw'>;
  readonly auditFollowers: AuditFollowers;
  readonly changeFollowers: ChangeFollowers;
  /** The shares with the most requests. */
  readonly busiest: Pick<BusiestCache, 'of'>;
  /** {base_url} without a trailing slash. Called at each use, because the port may be known late. */
  readonly baseUrl: () => string;
  readonly tokenPolicy: () => TokenPolicy;
}

/** The installation's own authorities. */
export interface AuthoritiesView {
  readonly trustDomain: string;
  /** Reads them again, so that a step of a rotation takes effect here at once. */
  readonly changed: () => Promise<void>;
}

/** The dependencies of every change, which is one transaction with its audit event. */
export type ChangeParts = Pick<ApiParts, 'store' | 'secrets' | 'clock'>;

/** The dependencies of every creation, whose response contains the URL of the new resource. */
export type CreationParts = ChangeParts & Pick<ApiParts, 'baseUrl'>;

/** One request. `Parameter` has the names of the path parameters. */
export interface Call<Body = unknown, Parameter extends string = never> {
  readonly operation: Operation;
  /** The client's address, taken from its connection and not from headers. */
  readonly address: string;
  readonly parameters: Readonly<Record<Parameter, string>>;
  readonly query: Query;
  /** Checked against the operation's schema; undefined if the operation reads no body. */
  readonly body: Body;
  /** Only for operations that read bodies of their own. */
  readonly request: IncomingMessage;
  readonly readBody: ReadBody;
  readonly authorization: readonly string[];
  /** Throws if the operation requires no credentials. */
  readonly principal: Principal;
  /** Authenticates the credential again, for long responses. Throws its refusal if it is no longer accepted. */
  readonly proveAgain: () => Promise<Principal>;
  /** The frontdoor of the path, which the caller may use. Throws if the path has none. */
  readonly frontdoor: GrantedFrontdoor;
}

export interface ApiAnswer<Body = unknown> {
  readonly status: number;
  /** Undefined: no body. */
  readonly body?: Body;
  /** Replaces `body` for content other than JSON: a text, or a stream of bytes. */
  readonly raw?: { readonly contentType: string; readonly data: string | Readable };
  readonly headers?: Readonly<Record<string, string>>;
}

/** The result of a change, for its caller and for the audit trail. */
export interface Changed<T> {
  readonly result: T;
  readonly target: AuditTarget;
  /** The resource before the change, as the API showed it; undefined if it is new. */
  readonly before?: unknown;
  /** The resource after the change; undefined if it was deleted. */
  readonly after?: unknown;
  /** Organization whose audit trail gets the event, if it is not the caller's. */
  readonly organizationId?: string;
  /** What the change took with it, as events of their own after that of the change. */
  readonly also?: readonly Pick<AuditEntry, 'action' | 'target' | 'before'>[];
  /** Frontdoor of the resource, if the path does not name it. */
  readonly ownerId?: string;
}

/** Nothing was changed, so there is no audit event. */
export interface Unchanged<T> {
  readonly result: T;
  readonly target?: undefined;
}

/**
 * Runs a change and its audit event in one transaction: an acknowledged change is recorded, and a failed one
 * leaves nothing.
 */
export function change<T>(
  parts: ChangeParts,
  call: Call,
  work: (trx: StoreTransaction, touch: Touch) => Promise<Changed<T> | Unchanged<T>>,
): Promise<T> {
  const { principal } = call;
  return parts.store.transaction(async (trx, touch) => {
    const head = earlyHead(trx, principal.organizationId);
    await checkPresentRights(trx, call, parts.clock.nowMs());
    const changed = await work(trx, touch);
    if (changed.target === undefined) return changed.result;
    const { result, target, before, after, organizationId, also = [] } = changed;
    const frontdoorId = changed.ownerId ?? frontdoorIdOf(call);
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
    const ownerId = target.kind === 'frontdoor' ? entry.organizationId : frontdoorId;
    touchResource(touch, { ownerId, ...target });
    const more = also.map((each): AuditEntry => ({ ...entry, after: undefined, ...each }));
    await appendAuditAll(trx, touch, parts.secrets, [entry, ...more], parts.clock.nowMs(), head);
    return result;
  });
}

/** Returns null for an operation on the installation or an organization. */
function frontdoorIdOf({ parameters }: Call): string | null {
  const { frontdoorId } = parameters as Readonly<Record<string, string>>;
  return frontdoorId?.toLowerCase() ?? null;
}

/** Implements an operation. The operation's row in the contract provides the types of body, parameters and response. */
export type Handler<Parts, Id extends OperationId> = (
  parts: Parts,
  call: Call<BodyOf<Id>, ParameterOf<Id>>,
) => Promise<ApiAnswer<Immutable<AnswerOf<Id>> | ApiRefusal['body']>>;

/** `T` with readonly fields and arrays: an answer may be built from values that nobody may change. */
type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Immutable<T[Name]> }
    : T;

export type Handlers<Parts, Ids extends OperationId> = { readonly [Id in Ids]: Handler<Parts, Id> };

export function ok<Body>(body: Body): ApiAnswer<Body> {
  return { status: 200, body };
}

export function created<Body>(parts: Pick<ApiParts, 'baseUrl'>, path: string, body: Body): ApiAnswer<Body> {
  return { status: 201, body, headers: { location: parts.baseUrl() + path } };
}

/** Marks a response that must not be cached, because it contains a secret or a momentary value. */
export function unstored<Body>(answer: ApiAnswer<Body>): ApiAnswer<Body> {
  return { ...answer, headers: { ...answer.headers, 'cache-control': 'no-store' } };
}

export const gone: ApiAnswer<undefined> = { status: 204 };

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
