/**
 * The router data model, which states who may dial and bind what, in OpenZiti's form, derived from our own model.
 * Routers that subscribe get the whole of it, and the whole again after changes (it is small). Routers that
 * request it in their hello get the keys that sign service sessions.
 */
import { randomUUID } from 'node:crypto';
import { headerId, HeaderWriter, type Frame } from '#wire';
import {
  ctrlMessages,
  DataState_PolicyType,
  DataState_PublicKeyFormat,
  DataState_PublicKeyUsage,
  DataState_RelatedEntityType,
  type CtrlInit,
} from '#wire/ctrl';
import type { OverlayModel, Service } from '../model/mod.ts';
import { edgeDataModel } from './edge-data-model.ts';
import type { ConnectedRouter, RouterRegistry } from './connected-router.ts';

export interface ServiceKey {
  /** As in the header of the service sessions. */
  readonly kid: string;
  /** DER: SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
}

type Event = NonNullable<NonNullable<CtrlInit<'dataState'>['events']>[number]>;
type Model = NonNullable<Event['model']>;

const HOST_CONFIG_TYPE = 'host.v1';
const MIN_SUBSCRIPTION_S = 10;
const MAX_SUBSCRIPTION_S = 360;
/** Minimum interval between two whole models after changes. */
const MIN_RESEND_MS = 1_000;
/** Lifetime of the signed tokens of API sessions, and the tolerance of routers' clocks. */
const SIGNED_TOKEN_MS = 31 * 60_000;
const MAX_REVOCATIONS = 10_000;

interface Subscription {
  readonly id: string;
  readonly untilMs: number;
}

export class DataModelFeed {
  readonly #model: OverlayModel;
  readonly #routers: RouterRegistry;
  readonly #serviceKeys: () => readonly ServiceKey[];
  readonly #timelineId = randomUUID();
  readonly #subscriptions = new Map<ConnectedRouter, Subscription>();
  /** Ends of sessions whose signed tokens routers may still accept: until when, by the session's id. */
  readonly #revocations = new Map<string, number>();
  #index = 1n;
  #isChanged = false;
  #lastSentMs = 0;

  constructor(model: OverlayModel, routers: RouterRegistry, serviceKeys: () => readonly ServiceKey[]) {
    this.#model = model;
    this.#routers = routers;
    this.#serviceKeys = serviceKeys;
  }

  /** The keys only, without an index. */
  sendKeys(router: ConnectedRouter): void {
    const changes = this.#keyEvents().map((model) => ({ isSynthetic: true, model }));
    router.send(ctrlMessages.dataStateChangeSet.frame({ isSynthetic: true, changes }));
  }

  onKeysChanged(): void {
    for (const router of this.#routers.all()) if (router.wantsPublicKeys) this.sendKeys(router);
  }

  /** A session of signed tokens has ended. Routers learn it at once. */
  onSessionEnded(sessionId: string, endedAtMs: number): void {
    if (this.#revocations.has(sessionId)) return;
    if (this.#revocations.size >= MAX_REVOCATIONS)
      this.#revocations.delete(this.#revocations.keys().next().value!);
    const untilMs = endedAtMs + SIGNED_TOKEN_MS;
    this.#revocations.set(sessionId, untilMs);
    const changes = [{ isSynthetic: true, model: revocation(sessionId, untilMs) }];
    for (const router of this.#subscriptions.keys()) {
      const id = this.#subscriptions.get(router)?.id ?? '';
      const headers = id === '' ? undefined : new HeaderWriter().text(headerId.dataModel.subscriptionId, id);
      router.send(ctrlMessages.dataStateChangeSet.frame({ isSynthetic: true, changes }, headers));
    }
  }

  /** @throws FrontdoorError `protocol` */
  onSubscribe(router: ConnectedRouter, frame: Frame, nowMs: number): void {
    const request = ctrlMessages.subscribeToDataModel.decode(frame.body);
    const seconds = Math.min(
      MAX_SUBSCRIPTION_S,
      Math.max(MIN_SUBSCRIPTION_S, request.subscriptionDurationSeconds),
    );
    this.#subscriptions.set(router, { id: request.subscriptionId, untilMs: nowMs + seconds * 1_000 });
    if (request.timelineId === this.#timelineId && request.currentIndex === this.#index) return;
    this.#send([router]);
  }

  onChange(): void {
    this.#index += 1n;
    this.#isChanged = true;
  }

  onRouterGone(router: ConnectedRouter): void {
    this.#subscriptions.delete(router);
  }

  tick(nowMs: number): void {
    for (const [router, { untilMs }] of this.#subscriptions)
      if (untilMs < nowMs) this.#subscriptions.delete(router);
    for (const [id, untilMs] of this.#revocations) {
      // The oldest is the first.
      if (untilMs >= nowMs) break;
      this.#revocations.delete(id);
    }
    if (!this.#isChanged || nowMs - this.#lastSentMs < MIN_RESEND_MS) return;
    this.#isChanged = false;
    this.#lastSentMs = nowMs;
    if (this.#subscriptions.size > 0) this.#send([...this.#subscriptions.keys()]);
  }

  #send(routers: readonly ConnectedRouter[]): void {
    const events = this.#models().map((model) => ({ model }));
    const body = ctrlMessages.dataState.encode({
      events,
      endIndex: this.#index,
      timelineId: this.#timelineId,
    });
    for (const router of routers) {
      const id = this.#subscriptions.get(router)?.id ?? '';
      const headers = new HeaderWriter();
      if (id !== '') headers.text(headerId.dataModel.subscriptionId, id);
      router.send({
        contentType: ctrlMessages.dataState.contentType,
        sequence: 0,
        headers: headers.build(),
        body,
      });
    }
  }

  /** In the order that routers require: named objects before those that name them. */
  #models(): Model[] {
    const identities = [...this.#model.identities()].filter(({ kind }) => kind !== 'router');
    const gatewayIds = identities.filter(({ kind }) => kind === 'gateway').map(({ id }) => id);
    const services = [...this.#model.services()];
    const edge = edgeDataModel(this.#model.edge);
    return [
      ...edge.configs,
      ...services.flatMap((service) => configOf(service) ?? []),
      ...identities.map(({ id, name }): Model => ({ case: 'identity', value: { id, name } })),
      ...services.map((service): Model => {
        const { id, name } = service;
        const configs = configOf(service) === undefined ? [] : [configId(id)];
        return { case: 'service', value: { id, name, configs, encryptionRequired: true } };
      }),
      ...edge.services,
      ...edge.policies,
      ...services.flatMap((service) => [
        ...policy(service, DataState_PolicyType.BIND_POLICY, [service.environmentId]),
        ...policy(
          service,
          DataState_PolicyType.DIAL_POLICY,
          service.shareMode === 'public' ? gatewayIds : [...service.grants],
        ),
      ]),
      ...this.#keyEvents(),
      ...[...this.#revocations].map(([id, untilMs]) => revocation(id, untilMs)),
    ];
  }

  #keyEvents(): Model[] {
    return this.#serviceKeys().map(({ kid, spki }) => ({
      case: 'publicKey',
      value: {
        kid,
        data: spki,
        usages: [DataState_PublicKeyUsage.JWT_VALIDATION],
        format: DataState_PublicKeyFormat.PKIX_PUBLIC_KEY,
      },
    }));
  }
}

function revocation(sessionId: string, untilMs: number): Model {
  const expiresAt = { seconds: BigInt(Math.floor(untilMs / 1_000)), nanos: 0 };
  return { case: 'revocation', value: { id: sessionId, type: 'API_SESSION', expiresAt } };
}

function policy(service: Service, policyType: DataState_PolicyType, identityIds: string[]): Model[] {
  const kind = policyType === DataState_PolicyType.BIND_POLICY ? 'bind' : 'dial';
  const policyId = `${service.id}.${kind}`;
  const { RELATED_SERVICE, RELATED_IDENTITY } = DataState_RelatedEntityType;
  return [
    { case: 'servicePolicy', value: { id: policyId, name: policyId, policyType } },
    {
      case: 'servicePolicyChange',
      value: { policyId, relatedEntityIds: [service.id], relatedEntityType: RELATED_SERVICE, add: true },
    },
    {
      case: 'servicePolicyChange',
      value: { policyId, relatedEntityIds: identityIds, relatedEntityType: RELATED_IDENTITY, add: true },
    },
  ];
}

/** Returns undefined for a target that is not a server's address. */
function configOf(service: Service): Model | undefined {
  if (!URL.canParse(service.target)) return undefined;
  const { hostname, port, protocol } = new URL(service.target);
  const address = hostname.replace(/^\[|\]$/g, '');
  const dataJson = JSON.stringify({
    protocol: 'tcp',
    address,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  });
  const id = configId(service.id);
  return { case: 'config', value: { id, typeId: HOST_CONFIG_TYPE, name: id, dataJson } };
}

function configId(serviceId: string): string {
  return `${serviceId}.host`;
}
