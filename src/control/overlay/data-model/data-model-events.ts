/**
 * Identities and shares in the form of the router data model. Each function is pure. Public shares have one dial policy
 * for all gateways, and the shares of an environment have one bind policy, so that a share costs a few short events;
 * a private share has a dial policy of its own.
 */
import {
  DataState_PolicyType,
  DataState_PublicKeyFormat,
  DataState_PublicKeyUsage,
  DataState_RelatedEntityType,
} from '#wire/ctrl';
import { parseShareTarget } from '#domain';
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
import { hostConfig, interceptConfig } from '../model/share-endpoint-config.ts';
import type { Identity, Service } from '../model/overlay-model.ts';

export interface ServiceKey {
  /** As in the header of the service sessions. */
  readonly kid: string;
  /** DER: SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
}

/** The shares that concern an identity: ids of those that it hosts, and those that are granted to it. */
export interface RelatedShares {
  readonly hosted: Iterable<string>;
  readonly granted: readonly Service[];
}

/** Whether routers have the identity. One of OpenZiti crashes after a relation to an identity that it does not have. */
export type IsKnown = (identityId: string) => boolean;

const { RELATED_SERVICE, RELATED_IDENTITY } = DataState_RelatedEntityType;
const HOST_CONFIG_TYPE = 'host.v1';
const INTERCEPT_CONFIG_TYPE = 'intercept.v1';
const PUBLIC_DIAL_POLICY = 'shares.public.dial';
/** Exists without any share or gateway. */
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
 * The events that make `identity` of `before`; undefined for one that does not exist. With the relations of shares unless both
 * exist. Relations to policies of the edge management API must have been removed before.
 */
export function identityEvents(
  before: Identity | undefined,
  identity: Identity | undefined,
  { hosted, granted }: RelatedShares,
): DataEvent[] {
  const project = (one: Identity | undefined): Projection => {
    if (one === undefined) return NOTHING;
    const bound = one.kind === 'environment' ? hostingRelations(one.id, hosted) : [];
    return projectionOf([...identityEntities(one), ...bound, ...granteeRelations(one.id, granted)]);
  };
  return differencesOf(project(before), project(identity));
}

/**
 * Returns nothing for a target that is not a server's address. `domain` is that of the address at which routers intercept the
 * share; undefined: they do not intercept it.
 */
export function configEntities(service: Service, domain: string | undefined): DataEntity[] {
  const target = parseShareTarget(service.target);
  if (target === undefined) return [];
  const { id, token: name } = service;
  const host = hostConfig(target);
  const intercept = domain === undefined ? undefined : interceptConfig(name, target, domain);
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
function configIds({ id, target: text }: Service, domain: string | undefined): string[] {
  const target = parseShareTarget(text);
  if (target === undefined) return [];
  const hosted = hostConfig(target) === undefined ? [] : [hostConfigId(id)];
  return domain === undefined ? hosted : [...hosted, interceptConfigId(id)];
}

/** `domain` as in `configEntities`. */
export function serviceEntity(service: Service, domain: string | undefined): DataEntity {
  const { id, token: name } = service;
  const configs = configIds(service, domain);
  return { case: 'service', value: { id, name, configs, encryptionRequired: true } };
}

/** The dial policy of a private share that is granted to others. */
export function grantEntities(service: Service, isKnown: IsKnown): DataEntity[] {
  if (!hasDialPolicy(service)) return [];
  const { id, grants } = service;
  const policyId = dialPolicyId(id);
  return [
    policyOf(policyId, DataState_PolicyType.DIAL_POLICY),
    relation(policyId, RELATED_SERVICE, [id]),
    ...relations(policyId, RELATED_IDENTITY, grants.filter(isKnown)),
  ];
}

/** Relates an identity to the dial policies of shares that are granted to it, or ends these relations. */
export function granteeRelations(identityId: string, granted: readonly Service[], add = true): DataEntity[] {
  return granted
    .filter(hasDialPolicy)
    .map(({ id }) => relation(dialPolicyId(id), RELATED_IDENTITY, [identityId], add));
}

function hasDialPolicy({ shareMode, grants }: Service): boolean {
  return shareMode === 'private' && grants.length > 0;
}

/** Relates services to the dial policy of public shares. */
export function publicRelations(serviceIds: Iterable<string>): Iterable<DataEntity> {
  return relations(PUBLIC_DIAL_POLICY, RELATED_SERVICE, serviceIds);
}

export function hostingRelations(environmentId: string, serviceIds: Iterable<string>): Iterable<DataEntity> {
  return relations(bindPolicyId(environmentId), RELATED_SERVICE, serviceIds);
}

/**
 * The events that make `service` of `before`. Undefined stands for a share that does not exist. `domain` as in
 * `configEntities`. Configs and the service are sent whenever anything differs, because a change of identities can have
 * changed its domain.
 */
export function serviceEvents(
  before: Service | undefined,
  service: Service | undefined,
  domain: string | undefined,
  isKnown: IsKnown,
): DataEvent[] {
  if (before !== undefined && service !== undefined && isSameEntity(before, service)) return [];
  // Routers ignore the deletion of a config that they do not have.
  const formerDomain = before !== undefined && hasDialPolicy(before) ? '' : undefined;
  return differencesOf(
    shareProjection(before, formerDomain, isKnown),
    shareProjection(service, domain, isKnown),
    (model) => model.case === 'config' || model.case === 'service',
  );
}

function shareProjection(
  service: Service | undefined,
  domain: string | undefined,
  isKnown: IsKnown,
): Projection {
  if (service === undefined) return NOTHING;
  const { id, environmentId, shareMode } = service;
  return projectionOf([
    ...configEntities(service, domain),
    serviceEntity(service, domain),
    ...(isKnown(environmentId) ? hostingRelations(environmentId, [id]) : []),
    ...(shareMode === 'public' ? publicRelations([id]) : grantEntities(service, isKnown)),
  ]);
}

function isSameEntity(before: Service, service: Service): boolean {
  return (
    before.name === service.name &&
    before.target === service.target &&
    before.environmentId === service.environmentId &&
    before.shareMode === service.shareMode &&
    before.grants.join() === service.grants.join()
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

function bindPolicyId(environmentId: string): string {
  return `${environmentId}.bind`;
}

function dialPolicyId(serviceId: string): string {
  return `${serviceId}.dial`;
}
