/** Services, routers, sessions and identities in the shapes of OpenZiti's client API. */
import { formatHostPort } from '#base';
import {
  type EdgeRouter,
  type Identity,
  type JsonObject,
  type OverlayModel,
  type Service,
  type ProjectedService,
  type ServiceGrant,
  serviceConfigIds,
  serviceConfigs,
  type ServiceRights,
} from '../../overlay/model/mod.ts';
import { SESSION_IDLE_MS, type LiveSession } from '../../overlay/clients/mod.ts';
import { sessionIdOf } from './service-tokens.ts';

export const TERMINATOR_STRATEGY = 'smartrouting';

/** What an identity may do with a service. */
export function rightsOf(model: OverlayModel, identityId: string, service: Service): ServiceRights {
  return { mayBind: model.mayBind(identityId, service), mayDial: model.mayDial(identityId, service) };
}

/** How a service is shown. */
export interface ServiceViewOptions {
  /** The requested types, or `all`. */
  readonly configTypes: readonly string[];
  /** Domain of the addresses of hosted services; undefined: they have none. */
  readonly interceptDomain: string | undefined;
  /** Whether a host cannot encrypt, so that dialers must not require it. */
  readonly hasKeylessHost: boolean;
}

export function serviceView(
  service: ProjectedService,
  rights: ServiceRights,
  { configTypes, interceptDomain, hasKeylessHost }: ServiceViewOptions,
): Record<string, unknown> {
  const { mayBind, mayDial } = rights;
  const updatedAt = isoTime(service.updatedAtMs);
  return {
    _links: { self: { href: `./services/${service.id}` } },
    id: service.id,
    name: service.name,
    createdAt: updatedAt,
    updatedAt,
    tags: service.tags,
    encryptionRequired: mayBind || !hasKeylessHost,
    permissions: [...(mayBind ? ['Bind'] : []), ...(mayDial ? ['Dial'] : [])],
    config: serviceConfigs(service, rights, interceptDomain, configTypes),
    configs: serviceConfigIds(service, rights, interceptDomain),
    maxIdleTimeMillis: 0,
    postureQueries: [],
    posturePolicies: {},
    roleAttributes: [],
    terminatorStrategy: TERMINATOR_STRATEGY,
  };
}

export function routerView(router: EdgeRouter): Record<string, unknown> {
  const url = routerUrl(router);
  return {
    id: router.id,
    name: router.name,
    hostname: router.hostname,
    isOnline: router.isOnline,
    cost: router.traits?.cost ?? 0,
    disabled: router.traits?.isDisabled === true,
    noTraversal: router.traits?.noTraversal === true,
    syncStatus: router.isOnline ? 'SYNC_DONE' : 'SYNC_UNKNOWN',
    // A router that has not reported a listener has no URL yet.
    supportedProtocols: url === undefined ? {} : { tls: url },
    urls: url === undefined ? {} : { tls: url },
  };
}

/** Routers that a dial can use now. */
export function onlineRouterViews(routers: readonly EdgeRouter[]): Record<string, unknown>[] {
  return routers.filter((router) => router.isOnline && routerUrl(router) !== undefined).map(routerView);
}

export function serviceSessionView(
  grant: ServiceGrant,
  token: string,
  service: Service,
  routers: readonly EdgeRouter[],
): Record<string, unknown> {
  return {
    _links: null,
    createdAt: null,
    updatedAt: null,
    id: sessionIdOf(grant),
    token,
    type: grant.type,
    serviceId: service.id,
    // Some clients read these two fields if there is no router, and would crash on null.
    service: { id: service.id, name: service.name, entity: 'services' },
    apiSession: { id: grant.apiSessionId, entity: 'api-sessions' },
    apiSessionId: grant.apiSessionId,
    identityId: grant.identityId,
    edgeRouters: onlineRouterViews(routers),
  };
}

/** The state of the second factor of a log-in. */
export type SecondFactorState = 'none' | 'unenrolled' | 'pending' | 'passed';

/** How SDKs ask for a code, at the client API. */
const CODE_QUERY = {
  typeId: 'MFA',
  provider: 'ziti',
  format: 'alphaNumeric',
  minLength: 4,
  maxLength: 6,
  httpMethod: 'POST',
  httpUrl: './authenticate/mfa',
};

/** `signerQuery` asks for the token of another party, if that is missing. A replaced certificate is of a former authority. */
export function apiSessionView(
  session: Pick<LiveSession, 'id' | 'token' | 'configTypes' | 'createdAtMs'>,
  identity: Identity,
  authenticatorId: string,
  address: string,
  nowMs: number,
  secondFactor: SecondFactorState,
  certificate: { readonly isOurs: boolean; readonly isReplaced: boolean },
  signerQuery: readonly Readonly<Record<string, unknown>>[] = [],
): Record<string, unknown> {
  const now = isoTime(nowMs);
  const isOpen = secondFactor === 'none' || secondFactor === 'passed';
  return {
    _links: { self: { href: `./api-sessions/${session.id}` } },
    id: session.id,
    token: session.token,
    identityId: identity.id,
    identity: linked('identities', identity.id, identity.name),
    authenticatorId,
    authQueries: [
      ...(isOpen ? [] : [{ ...CODE_QUERY, isTotpEnrolled: secondFactor === 'pending' }]),
      ...signerQuery,
    ],
    configTypes: session.configTypes,
    createdAt: isoTime(session.createdAtMs),
    updatedAt: now,
    lastActivityAt: now,
    cachedLastActivityAt: now,
    expiresAt: isoTime(nowMs + SESSION_IDLE_MS),
    expirationSeconds: SESSION_IDLE_MS / 1000,
    ipAddress: address,
    isCertExtendable: certificate.isOurs,
    isCertExtendRequested: certificate.isReplaced,
    isMfaRequired: secondFactor !== 'none',
    isMfaComplete: secondFactor === 'passed',
    tags: {},
  };
}

/**
 * `authenticators` are the certificate and the password, by method. `given` is what an administrator set for an identity of
 * the edge management API.
 */
export function identityView(
  identity: Identity,
  authenticators: Readonly<Record<string, unknown>>,
  createdAtMs: number,
  isConnected: boolean,
  policy: { readonly id: string; readonly name: string },
  given: JsonObject = {},
): Record<string, unknown> {
  const createdAt = isoTime(createdAtMs);
  return {
    _links: { mfa: { href: './current-identity/mfa' }, self: { href: './current-identity' } },
    id: identity.id,
    name: identity.name,
    createdAt,
    updatedAt: createdAt,
    tags: {},
    appData: {},
    authenticators,
    defaultHostingCost: 0,
    defaultHostingPrecedence: 'default',
    disabled: false,
    edgeRouterConnectionStatus: isConnected ? 'online' : 'offline',
    enrollment: {},
    externalId: null,
    hasApiSession: true,
    hasEdgeRouterConnection: isConnected,
    interfaces: null,
    isAdmin: false,
    isDefaultAdmin: false,
    isMfaEnabled: false,
    roleAttributes: [],
    serviceHostingCosts: {},
    serviceHostingPrecedences: {},
    ...given,
    authPolicy: linked('auth-policies', policy.id, policy.name),
    authPolicyId: policy.id,
    type: linked('identity-types', 'Default', 'Default'),
    typeId: 'Default',
  };
}

/** A reference to another entity. */
export function linked(entity: string, id: string, name: string): Record<string, unknown> {
  return { _links: { self: { href: `./${entity}/${id}` } }, entity, id, name };
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function routerUrl(router: EdgeRouter): string | undefined {
  if (router.hostname === '' || router.port === 0) return undefined;
  return `tls://${formatHostPort(router.hostname, router.port)}`;
}
