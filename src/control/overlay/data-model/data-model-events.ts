/**
 * Identities and shares in the form of the router data model. Each function is pure. Public shares have one dial policy
 * for all gateways, and the shares of an environment have one bind policy, so that a share costs a few short events;
 * a private share has a dial policy of its own.
 */
import {
  DataState_Action,
  DataState_PolicyType,
  DataState_PublicKeyFormat,
  DataState_PublicKeyUsage,
  DataState_RelatedEntityType,
  type CtrlInit,
} from '#wire/ctrl';
import { parseShareTarget } from '#domain';
import { hostConfig, interceptConfig } from '../model/share-endpoint-config.ts';
import type { Identity, Service } from '../model/overlay-model.ts';

export type DataEvent = NonNullable<NonNullable<CtrlInit<'dataState'>['events']>[number]>;
export type DataEntity = NonNullable<DataEvent['model']>;

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

const { UPDATE, DELETE } = DataState_Action;
const { RELATED_SERVICE, RELATED_IDENTITY } = DataState_RelatedEntityType;
const HOST_CONFIG_TYPE = 'host.v1';
const INTERCEPT_CONFIG_TYPE = 'intercept.v1';
const PUBLIC_DIAL_POLICY = 'shares.public.dial';
/** Ids of one event that relates entities to a policy. */
const MAX_RELATED_IDS = 500;

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

/** Besides the identity and its policies, the relations of shares that came before it. */
export function identityCreation(identity: Identity, relatedShares: RelatedShares): DataEvent[] {
  const { id, kind } = identity;
  const hosted = kind === 'environment' ? hostingRelations(id, relatedShares.hosted) : [];
  const created = [...identityEntities(identity), ...hosted, ...granteeRelations(id, relatedShares.granted)];
  return created.map((model) => ({ action: UPDATE, model }));
}

/** The identity without its policies, which stay as they are. */
export function identityUpdate(identity: Identity): DataEvent[] {
  return identityEntities(identity)
    .slice(0, 1)
    .map((model) => ({ action: UPDATE, model }));
}

/** Relations to policies of the edge management API must have been removed before. */
export function identityRemoval({ id, kind }: Identity, { hosted, granted }: RelatedShares): DataEvent[] {
  const events: DataEvent[] = lostGrants(id, granted);
  if (kind === 'gateway') events.push({ model: relation(PUBLIC_DIAL_POLICY, RELATED_IDENTITY, [id], false) });
  if (kind === 'environment') {
    const policyId = bindPolicyId(id);
    for (const model of relations(policyId, RELATED_SERVICE, hosted, false)) events.push({ model });
    events.push({ model: relation(policyId, RELATED_IDENTITY, [id], false) });
    events.push({ action: DELETE, model: policyOf(policyId, DataState_PolicyType.BIND_POLICY) });
  }
  events.push({ action: DELETE, model: { case: 'identity', value: { id } } });
  return events;
}

/** The relations of an identity that ends, to the dial policies of shares that are granted to it. */
export function lostGrants(identityId: string, granted: readonly Service[]): DataEvent[] {
  return granted
    .filter(hasDialPolicy)
    .map(({ id }) => ({ model: relation(dialPolicyId(id), RELATED_IDENTITY, [identityId], false) }));
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

/** Relates an identity to the dial policies of shares that are granted to it. */
export function granteeRelations(identityId: string, granted: readonly Service[]): DataEntity[] {
  return granted
    .filter(hasDialPolicy)
    .map(({ id }) => relation(dialPolicyId(id), RELATED_IDENTITY, [identityId]));
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
 * `configEntities`.
 */
export function serviceEvents(
  before: Service | undefined,
  service: Service | undefined,
  domain: string | undefined,
  isKnown: IsKnown,
): DataEvent[] {
  if (service === undefined) return before === undefined ? [] : removalEvents(before, isKnown);
  if (before !== undefined && isSameEntity(before, service)) return [];
  const configs = configEntities(service, domain);
  const kept = configIds(service, domain);
  const events: DataEvent[] = configs.map((model) => ({ action: UPDATE, model }));
  if (before !== undefined) events.push(...lostPermissions(before, service, isKnown));
  const { id, environmentId, shareMode } = service;
  const added = [
    serviceEntity(service, domain),
    ...(isKnown(environmentId) ? hostingRelations(environmentId, [id]) : []),
    ...(shareMode === 'public' ? publicRelations([id]) : grantEntities(service, isKnown)),
  ];
  events.push(...added.map((model) => ({ action: UPDATE, model })));
  if (before !== undefined) events.push(...configRemovals(before, kept));
  return events;
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

function lostPermissions(before: Service, service: Service, isKnown: IsKnown): DataEvent[] {
  const lost: DataEvent[] = [];
  if (before.environmentId !== service.environmentId) lost.push(...lostHost(before, isKnown));
  if (before.shareMode === 'public')
    return service.shareMode === 'public' ? lost : [...lost, lostPublicDial(before.id)];
  if (!hasDialPolicy(before)) return lost;
  if (!hasDialPolicy(service)) return [...lost, ...dialPolicyRemoval(before, isKnown)];
  const kept = new Set(service.grants);
  const revoked = before.grants.filter((id) => !kept.has(id) && isKnown(id));
  for (const model of relations(dialPolicyId(before.id), RELATED_IDENTITY, revoked, false))
    lost.push({ model });
  return lost;
}

function removalEvents(service: Service, isKnown: IsKnown): DataEvent[] {
  const { id, shareMode } = service;
  return [
    ...lostHost(service, isKnown),
    ...(shareMode === 'public' ? [lostPublicDial(id)] : []),
    ...(hasDialPolicy(service) ? dialPolicyRemoval(service, isKnown) : []),
    { action: DELETE, model: { case: 'service', value: { id } } },
    ...configRemovals(service),
  ];
}

function lostHost({ id, environmentId }: Service, isKnown: IsKnown): DataEvent[] {
  if (!isKnown(environmentId)) return [];
  return [{ model: relation(bindPolicyId(environmentId), RELATED_SERVICE, [id], false) }];
}

function lostPublicDial(serviceId: string): DataEvent {
  return { model: relation(PUBLIC_DIAL_POLICY, RELATED_SERVICE, [serviceId], false) };
}

/** Removes the configs that are not kept. Routers ignore the deletion of what they do not have. */
function configRemovals(service: Service, kept: readonly string[] = []): DataEvent[] {
  const ids = [hostConfigId(service.id)];
  if (hasDialPolicy(service)) ids.push(interceptConfigId(service.id));
  const lost = ids.filter((id) => !kept.includes(id));
  return lost.map((id) => ({ action: DELETE, model: { case: 'config', value: { id } } }));
}

/** The identities first: OpenZiti's routers keep their relation to a removed policy, and to the next one of this id. */
function dialPolicyRemoval({ id, grants }: Service, isKnown: IsKnown): DataEvent[] {
  const policyId = dialPolicyId(id);
  const lost = [
    ...relations(policyId, RELATED_IDENTITY, grants.filter(isKnown), false),
    relation(policyId, RELATED_SERVICE, [id], false),
  ];
  return [
    ...lost.map((model) => ({ model })),
    { action: DELETE, model: policyOf(policyId, DataState_PolicyType.DIAL_POLICY) },
  ];
}

function policyOf(id: string, policyType: DataState_PolicyType): DataEntity {
  return { case: 'servicePolicy', value: { id, name: id, policyType } };
}

function* relations(
  policyId: string,
  type: DataState_RelatedEntityType,
  ids: Iterable<string>,
  add = true,
): Generator<DataEntity> {
  let some: string[] = [];
  for (const id of ids) {
    some.push(id);
    if (some.length < MAX_RELATED_IDS) continue;
    yield relation(policyId, type, some, add);
    some = [];
  }
  if (some.length > 0) yield relation(policyId, type, some, add);
}

function relation(
  policyId: string,
  relatedEntityType: DataState_RelatedEntityType,
  relatedEntityIds: string[],
  add = true,
): DataEntity {
  return { case: 'servicePolicyChange', value: { policyId, relatedEntityIds, relatedEntityType, add } };
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
