/** Services, routers, sessions and identities in the shapes of OpenZiti's client API. */
import { formatHostPort } from '#base';
import { parseShareTarget } from '#domain';
import type { EdgeRouter, Identity, OverlayModel, Service, ServiceGrant } from '../model/mod.ts';
import { SESSION_IDLE_MS, type LiveSession } from './api-session-store.ts';
import { sessionIdOf } from './service-tokens.ts';

const HOST_CONFIG = 'host.v1';
export const TERMINATOR_STRATEGY = 'smartrouting';

/** Ids of the configs that an identity sees: only hosts see the address of the private service. */
export function configsOf(service: Service, mayBind: boolean): readonly string[] {
  return mayBind ? [`${HOST_CONFIG}:${service.id}`] : [];
}

/**
 * `configTypes` are the requested types, or `all`. `hasKeylessHost`: a host cannot encrypt, so that dialers must not
 * require it.
 */
export function serviceView(
  model: OverlayModel,
  identityId: string,
  service: Service,
  configTypes: readonly string[],
  hasKeylessHost: boolean,
): Record<string, unknown> {
  const permissions: string[] = [];
  if (model.mayBind(identityId, service)) permissions.push('Bind');
  if (model.mayDial(identityId, service)) permissions.push('Dial');
  const wanted = configTypes.includes('all') || configTypes.includes(HOST_CONFIG);
  // Only the host gets the address of the private service.
  const host = wanted && permissions.includes('Bind') ? parseShareTarget(service.target) : undefined;
  const updatedAt = isoTime(service.updatedAtMs);
  return {
    _links: { self: { href: `./services/${service.id}` } },
    id: service.id,
    name: service.name,
    createdAt: updatedAt,
    updatedAt,
    tags: {},
    encryptionRequired: permissions.includes('Bind') || !hasKeylessHost,
    permissions,
    config:
      host === undefined ? {} : { [HOST_CONFIG]: { protocol: 'tcp', address: host.host, port: host.port } },
    configs: configsOf(service, permissions.includes('Bind')),
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
    cost: 0,
    disabled: false,
    noTraversal: false,
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

export function apiSessionView(
  session: LiveSession,
  identity: Identity,
  fingerprint: string,
  address: string,
  nowMs: number,
): Record<string, unknown> {
  const now = isoTime(nowMs);
  return {
    _links: { self: { href: `./api-sessions/${session.id}` } },
    id: session.id,
    token: session.token,
    identityId: identity.id,
    identity: linked('identities', identity.id, identity.name),
    authenticatorId: fingerprint,
    authQueries: [],
    configTypes: session.configTypes,
    createdAt: isoTime(session.createdAtMs),
    updatedAt: now,
    lastActivityAt: now,
    cachedLastActivityAt: now,
    expiresAt: isoTime(nowMs + SESSION_IDLE_MS),
    expirationSeconds: SESSION_IDLE_MS / 1000,
    ipAddress: address,
    isCertExtendable: false,
    isMfaRequired: false,
    isMfaComplete: false,
    tags: {},
  };
}

/** `fingerprint` is that of the certificate that the identity presents. */
export function identityView(
  identity: Identity,
  fingerprint: string,
  createdAtMs: number,
  isConnected: boolean,
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
    authPolicy: linked('auth-policies', 'default', 'Default'),
    authPolicyId: 'default',
    authenticators: { cert: { fingerprint, id: fingerprint } },
    defaultHostingCost: 0,
    defaultHostingPrecedence: 'default',
    disabled: false,
    edgeRouterConnectionStatus: isConnected ? 'online' : 'offline',
    enrollment: {},
    envInfo: {},
    externalId: null,
    hasApiSession: true,
    hasEdgeRouterConnection: isConnected,
    interfaces: null,
    isAdmin: false,
    isDefaultAdmin: false,
    isMfaEnabled: false,
    roleAttributes: [],
    sdkInfo: {},
    serviceHostingCosts: {},
    serviceHostingPrecedences: {},
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
