/**
 * Identities and hosted services in the form of the router data model. Each function is pure. Services that are open to gateways
 * have one dial policy for all of them, and the services of a host have one bind policy, so that a service costs a few short
 * events; one with grants has a dial policy of its own.
 */
import {
  DataState_PolicyType,
  DataState_PublicKeyFormat,
  DataState_PublicKeyUsage,
  DataState_RelatedEntityType,
} from '#wire/ctrl';
import {
  differencesOf,
  NOTHING,
  projectionOf,
  relation,
  relations,
  type DataEntity,
  type DataEvent,
  type Projection,
} from './data-model-diff.ts';
import { hostConfig, interceptConfig } from '../model/endpoint-config.ts';
import type { Identity } from '../model/overlay-model.ts';
import type { ProjectedService, ServiceEndpoint } from '../model/service.ts';

export interface ServiceKey {
  /** As in the header of the service sessions. */
  readonly kid: string;
  /** DER: SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
}

/** The services that concern an identity: ids of those that it hosts, and those that are granted to it. */
export interface RelatedServices {
  readonly hosted: Iterable<string>;
  readonly granted: readonly ProjectedService[];
}

/** Whether routers have the identity. One of OpenZiti crashes after a relation to an identity that it does not have. */
export type IsKnown = (identityId: string) => boolean;

const { RELATED_SERVICE, RELATED_IDENTITY } = DataState_RelatedEntityType;
const HOST_CONFIG_TYPE = 'host.v1';
const INTERCEPT_CONFIG_TYPE = 'intercept.v1';
const PUBLIC_DIAL_POLICY = 'shares.public.dial';
/** Exists without any service or gateway. */
export const PUBLIC_SHARES_POLICY = policyOf(PUBLIC_DIAL_POLICY, DataState_PolicyType.DIAL_POLICY);

export function keyEntity({ kid, spki }: ServiceKey): DataEntity {
  const usages = [DataState_PublicKeyUsage.JWT_VALIDATION];
  return {
    case: 'publicKey',
    value: { kid, data: spki, usages, format: DataState_PublicKeyFormat.PKIX_PUBLIC_KEY },
  };
}

export function revocationEntity(sessionId: string, untilMs: number): DataEntity {
  const expiresAt = { seconds: BigInt(Math.floor(untilMs / 1_000)), nanos: 0 };
  return { case: 'revocation', value: { id: sessionId, type: 'API_SESSION', expiresAt } };
}

/**
 * The identity with the policies that exist because of it. None for a router: one with a tunnel listener is an identity of
 * the edge management API.
 */
export function identityEntities({ id, kind, name }: Identity): DataEntity[] {
  if (kind === 'router') return [];
  const entity: DataEntity = { case: 'identity', value: { id, name } };
  if (kind === 'gateway') return [entity, relation(PUBLIC_DIAL_POLICY, RELATED_IDENTITY, [id])];
  if (kind !== 'environment') return [entity];
  const policyId = bindPolicyId(id);
  return [
    entity,
    policyOf(policyId, DataState_PolicyType.BIND_POLICY),
    relation(policyId, RELATED_IDENTITY, [id]),
  ];
}

/**
 * The events that make `identity` of `before`; undefined for one that does not exist. With the relations of services unless both
 * exist. Relations to policies of the edge management API must have been removed before.
 */
export function identityEvents(
  before: Identity | undefined,
  identity: Identity | undefined,
  { hosted, granted }: RelatedServices,
): DataEvent[] {
  const project = (one: Identity | undefined): Projection => {
    if (one === undefined) return NOTHING;
    const bound = one.kind === 'environment' ? hostingRelations(one.id, hosted) : [];
    return projectionOf([...identityEntities(one), ...bound, ...granteeRelations(one.id, granted)]);
  };
  return differencesOf(project(before), project(identity));
}

/**
 * Returns nothing without an endpoint. `domain` is that of the address at which routers intercept the service; undefined: they
 * do not intercept it.
 */
export function configEntities(
  { id, name, endpoint }: ProjectedService,
  domain: string | undefined,
): DataEntity[] {
  if (endpoint === undefined) return [];
  const host = hostConfig(endpoint);
  const intercept = domain === undefined ? undefined : interceptConfig(name, endpoint, domain);
  return [
    ...(host === undefined ? [] : [configEntity(hostConfigId(id), HOST_CONFIG_TYPE, host)]),
    ...(intercept === undefined
      ? []
      : [configEntity(interceptConfigId(id), INTERCEPT_CONFIG_TYPE, intercept)]),
  ];
}

function configEntity(id: string, typeId: string, content: object): DataEntity {
  return { case: 'config', value: { id, typeId, name: id, dataJson: JSON.stringify(content) } };
}

/** Returns the ids of `configEntities`. */
function configIds({ id, endpoint }: ProjectedService, domain: string | undefined): string[] {
  if (endpoint === undefined) return [];
  const hosted = endpoint.server === undefined ? [] : [hostConfigId(id)];
  return domain === undefined ? hosted : [...hosted, interceptConfigId(id)];
}

/** `domain` as in `configEntities`. */
export function serviceEntity(service: ProjectedService, domain: string | undefined): DataEntity {
  const { id, name } = service;
  const configs = configIds(service, domain);
  return { case: 'service', value: { id, name, configs, encryptionRequired: true } };
}

/** The dial policy of a service that is granted to others. */
export function grantEntities(service: ProjectedService, isKnown: IsKnown): DataEntity[] {
  if (!hasDialPolicy(service)) return [];
  const { id, grants } = service;
  const policyId = dialPolicyId(id);
  return [
    policyOf(policyId, DataState_PolicyType.DIAL_POLICY),
    relation(policyId, RELATED_SERVICE, [id]),
    ...relations(policyId, RELATED_IDENTITY, grants.filter(isKnown)),
  ];
}

/** Relates an identity to the dial policies of services that are granted to it, or ends these relations. */
export function granteeRelations(
  identityId: string,
  granted: readonly ProjectedService[],
  add = true,
): DataEntity[] {
  return granted
    .filter(hasDialPolicy)
    .map(({ id }) => relation(dialPolicyId(id), RELATED_IDENTITY, [identityId], add));
}

function hasDialPolicy({ openTo, grants }: ProjectedService): boolean {
  return openTo === 'grants' && grants.length > 0;
}

/** Relates services to the dial policy of gateways. */
export function publicRelations(serviceIds: Iterable<string>): Iterable<DataEntity> {
  return relations(PUBLIC_DIAL_POLICY, RELATED_SERVICE, serviceIds);
}

export function hostingRelations(hostId: string, serviceIds: Iterable<string>): Iterable<DataEntity> {
  return relations(bindPolicyId(hostId), RELATED_SERVICE, serviceIds);
}

/**
 * The events that make `service` of `before`. Undefined stands for a service that does not exist. `domain` as in
 * `configEntities`. Configs and the service are sent whenever anything differs, because a change of identities can have
 * changed its domain.
 */
export function serviceEvents(
  before: ProjectedService | undefined,
  service: ProjectedService | undefined,
  domain: string | undefined,
  isKnown: IsKnown,
): DataEvent[] {
  if (before !== undefined && service !== undefined && isSameEntity(before, service)) return [];
  // Routers ignore the deletion of a config that they do not have.
  const formerDomain = before !== undefined && hasDialPolicy(before) ? '' : undefined;
  return differencesOf(
    serviceProjection(before, formerDomain, isKnown),
    serviceProjection(service, domain, isKnown),
    (model) => model.case === 'config' || model.case === 'service',
  );
}

function serviceProjection(
  service: ProjectedService | undefined,
  domain: string | undefined,
  isKnown: IsKnown,
): Projection {
  if (service === undefined) return NOTHING;
  const { id, hostId, openTo } = service;
  return projectionOf([
    ...configEntities(service, domain),
    serviceEntity(service, domain),
    ...(isKnown(hostId) ? hostingRelations(hostId, [id]) : []),
    ...(openTo === 'gateways' ? publicRelations([id]) : grantEntities(service, isKnown)),
  ]);
}

function isSameEntity(before: ProjectedService, service: ProjectedService): boolean {
  return (
    before.name === service.name &&
    isSameEndpoint(before.endpoint, service.endpoint) &&
    before.hostId === service.hostId &&
    before.openTo === service.openTo &&
    before.grants.join() === service.grants.join()
  );
}

function isSameEndpoint(before: ServiceEndpoint | undefined, endpoint: ServiceEndpoint | undefined): boolean {
  return (
    before?.protocol === endpoint?.protocol &&
    before?.clientPort === endpoint?.clientPort &&
    before?.server?.address === endpoint?.server?.address &&
    before?.server?.port === endpoint?.server?.port
  );
}

function policyOf(id: string, policyType: DataState_PolicyType): DataEntity {
  return { case: 'servicePolicy', value: { id, name: id, policyType } };
}

function hostConfigId(serviceId: string): string {
  return `${serviceId}.host`;
}

function interceptConfigId(serviceId: string): string {
  return `${serviceId}.intercept`;
}

function bindPolicyId(hostId: string): string {
  return `${hostId}.bind`;
}

function dialPolicyId(serviceId: string): string {
  return `${serviceId}.dial`;
}
