/**
 * The router data model, which states who may dial and bind what, in OpenZiti's form, derived from our own model.
 * Routers that subscribe get a full state once, and then change sets with only what changed. A router that missed some
 * gets them from a bounded log, or a full state. The index counts the change sets of this process, and the timeline is
 * its own, so that a router that comes from another replica gets a full state (ADR 0036).
 */
import { randomUUID } from 'node:crypto';
import { contentType, headerId, HeaderWriter, makeFrame, type Frame } from '#wire';
import { ctrlMessages, DataState_Action, type CtrlInit } from '#wire/ctrl';
import type { Identity, ModelChange, OverlayModel } from '../model/overlay-model.ts';
import type { ProjectedService } from '../model/service.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';
import {
  granteeRelations,
  identityEvents,
  keyEntity,
  revocationEntity,
  serviceEvents,
  type IsKnown,
  type RelatedServices,
  type ServiceKey,
} from './data-model-events.ts';
import type { DataEntity, DataEvent } from './data-model-diff.ts';
import { DataModelLog } from './data-model-log.ts';
import { dataModelSnapshot, domainOf } from './data-model-snapshot.ts';
import { sendFullState } from './data-model-state.ts';
import { EdgeDataChanges } from './edge-data-changes.ts';

const MIN_SUBSCRIPTION_S = 10;
const MAX_SUBSCRIPTION_S = 360;
/** Events of one change set. */
const MAX_SET_EVENTS = 500;
/** Interval at which subscribers get the current index, if it has advanced. */
const INDEX_INTERVAL_MS = 30_000;
/** Lifetime of the signed tokens of API sessions, and the tolerance of routers' clocks. */
const SIGNED_TOKEN_MS = 31 * 60_000;
const MAX_REVOCATIONS = 10_000;
const MAX_STATE_ATTEMPTS = 5;

interface Subscription {
  readonly router: ConnectedRouter;
  readonly subscriptionId: string;
  untilMs: number;
  /** Whether it has a full state, so that it gets change sets as they come. */
  isCurrent: boolean;
  announcedIndex: bigint;
}

export class DataModelFeed {
  readonly #model: OverlayModel;
  readonly #routers: RouterRegistry;
  readonly #serviceKeys: () => readonly ServiceKey[];
  readonly #caughtUp: () => Promise<void>;
  readonly #interceptDomain: string | undefined;
  readonly #timelineId = randomUUID();
  readonly #log = new DataModelLog();
  readonly #subscriptions = new Map<ConnectedRouter, Subscription>();
  /** Ends of sessions whose signed tokens routers may still accept: until when, by the session's id. */
  readonly #revocations = new Map<string, number>();
  readonly #edge: EdgeDataChanges;
  /** The identities that routers have, except those of tunnel routers. */
  readonly #identities = new Map<string, Identity>();
  #keyIds: ReadonlySet<string>;
  #pending: DataEvent[] = [];
  #isFlushDue = false;
  #isSending = false;
  #announcedMs = 0;

  /**
   * `caughtUp` resolves when the model contains all that any control plane has stored before the call. `interceptDomain` is
   * that of `RouterAccess`.
   */
  constructor(
    model: OverlayModel,
    routers: RouterRegistry,
    serviceKeys: () => readonly ServiceKey[],
    caughtUp: () => Promise<void>,
    interceptDomain: string | undefined,
  ) {
    this.#caughtUp = caughtUp;
    this.#interceptDomain = interceptDomain;
    this.#model = model;
    this.#routers = routers;
    this.#serviceKeys = serviceKeys;
    for (const identity of model.identities())
      if (identity.kind !== 'router') this.#identities.set(identity.id, identity);
    this.#edge = new EdgeDataChanges(model.edge, (id) => this.#identities.has(id));
    this.#keyIds = new Set(serviceKeys().map(({ kid }) => kid));
  }

  get timelineId(): string {
    return this.#timelineId;
  }

  get index(): bigint {
    return this.#log.index;
  }

  /** The keys only, without an index. */
  sendKeys(router: ConnectedRouter): void {
    const changes = this.#serviceKeys().map((key) => ({ isSynthetic: true, model: keyEntity(key) }));
    router.send(ctrlMessages.dataStateChangeSet.frame({ isSynthetic: true, changes }));
  }

  onKeysChanged(): void {
    for (const router of this.#routers.all()) if (router.wantsPublicKeys) this.sendKeys(router);
    const keys = this.#serviceKeys();
    const keyIds = new Set(keys.map(({ kid }) => kid));
    const removed = [...this.#keyIds].filter((kid) => !keyIds.has(kid));
    this.#keyIds = keyIds;
    this.#add(keys.map((key) => ({ model: keyEntity(key) })));
    this.#add(
      removed.map((kid) => ({
        action: DataState_Action.DELETE,
        model: { case: 'publicKey', value: { kid } },
      })),
    );
  }

  /** A session of signed tokens has ended. Routers learn it at once. */
  onSessionEnded(sessionId: string, endedAtMs: number): void {
    if (this.#revocations.has(sessionId)) return;
    if (this.#revocations.size >= MAX_REVOCATIONS)
      this.#revocations.delete(this.#revocations.keys().next().value!);
    const untilMs = endedAtMs + SIGNED_TOKEN_MS;
    this.#revocations.set(sessionId, untilMs);
    this.#add([{ model: revocationEntity(sessionId, untilMs) }]);
  }

  /** @throws FrontdoorError `protocol` */
  onSubscribe(router: ConnectedRouter, frame: Frame, nowMs: number): void {
    const request = ctrlMessages.subscribeToDataModel.decode(frame.body);
    const { subscriptionId, subscriptionDurationSeconds } = request;
    const seconds = Math.min(MAX_SUBSCRIPTION_S, Math.max(MIN_SUBSCRIPTION_S, subscriptionDurationSeconds));
    const untilMs = nowMs + seconds * 1_000;
    const known = this.#subscriptions.get(router);
    if (known?.isCurrent === false && known.subscriptionId === subscriptionId) {
      known.untilMs = untilMs;
      return;
    }
    this.#flush();
    const missed =
      request.timelineId === this.#timelineId ? this.#log.since(request.currentIndex) : undefined;
    const subscription = {
      router,
      subscriptionId,
      untilMs,
      isCurrent: missed !== undefined,
      announcedIndex: this.#log.index,
    };
    this.#subscriptions.set(router, subscription);
    if (missed === undefined) void this.#sendStates();
    else for (const body of missed) sendSet(subscription, body);
  }

  onChange(change: ModelChange): void {
    if (change.type === 'service')
      this.#add(this.#serviceEvents(change.before, this.#model.hostedService(change.id)));
    else if (change.type === 'identity') this.#add(this.#identityEvents(change.id));
    else if (change.type === 'edge') this.#edge.onChange();
  }

  onRouterGone(router: ConnectedRouter): void {
    this.#subscriptions.delete(router);
  }

  /** `unixMs` is the time by which revocations end. */
  tick(nowMs: number, unixMs = nowMs): void {
    for (const [router, { untilMs }] of this.#subscriptions)
      if (untilMs < nowMs) this.#subscriptions.delete(router);
    for (const [id, untilMs] of this.#revocations) {
      // The oldest is the first.
      if (untilMs >= unixMs) break;
      this.#revocations.delete(id);
      this.#add([{ action: DataState_Action.DELETE, model: revocationEntity(id, untilMs) }]);
    }
    this.#add(this.#edgeEvents(false));
    if (nowMs - this.#announcedMs < INDEX_INTERVAL_MS) return;
    this.#announcedMs = nowMs;
    this.#announceIndex();
  }

  #serviceEvents(before: ProjectedService | undefined, service: ProjectedService | undefined): DataEvent[] {
    const isRouter = (id: string): boolean => this.#model.identity(id)?.kind === 'router';
    const domain = service === undefined ? undefined : domainOf(service, this.#interceptDomain, isRouter);
    return serviceEvents(before, service, domain, this.#isKnown);
  }

  readonly #isKnown: IsKnown = (id) => this.#identities.has(id) || this.#edge.hasTunnelIdentity(id);

  #announceIndex(): void {
    const { index } = this.#log;
    for (const subscription of this.#subscriptions.values()) {
      if (!subscription.isCurrent || subscription.announcedIndex === index) continue;
      subscription.announcedIndex = index;
      const headers = headersOf(subscription).u64(headerId.dataModel.index, index);
      subscription.router.send(makeFrame(contentType.currentIndex, { headers }));
    }
  }

  #identityEvents(id: string): DataEvent[] {
    const identity = this.#model.identity(id);
    const before = this.#identities.get(id);
    const after = identity?.kind === 'router' ? undefined : identity;
    const ofEdge = before !== undefined && after === undefined ? this.#edge.endRelations(id) : [];
    if (after === undefined) this.#identities.delete(id);
    else this.#identities.set(id, after);
    // A policy may have selected it before.
    if (before === undefined && after?.kind === 'edge') this.#edge.onChange();
    const isNew = before === undefined || after === undefined;
    const related: RelatedServices = {
      hosted: isNew ? this.#model.hostedBy(id) : [],
      granted: isNew ? this.#model.grantedTo(id) : [],
    };
    return [...ofEdge, ...identityEvents(before, after, related)];
  }

  /** Includes the relations of a tunnel router to the policies of shares that are granted to it. */
  #edgeEvents(isUrgent: boolean): DataEvent[] {
    const events = this.#edge.take(isUrgent);
    const lost: DataEvent[] = [];
    const gained: DataEvent[] = [];
    for (const { action, model } of events) {
      if (model?.case !== 'identity' || model.value.id === undefined) continue;
      const granted = this.#model.grantedTo(model.value.id);
      const isLost = action === DataState_Action.DELETE;
      for (const each of granteeRelations(model.value.id, granted, !isLost))
        (isLost ? lost : gained).push({ model: each });
    }
    return [...lost, ...events, ...gained];
  }

  #add(events: readonly DataEvent[]): void {
    if (events.length === 0) return;
    this.#pending.push(...events);
    if (this.#pending.length >= MAX_SET_EVENTS) this.#flush();
    if (this.#isFlushDue || this.#pending.length === 0) return;
    this.#isFlushDue = true;
    setImmediate(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  #flush(): void {
    const events = this.#pending;
    if (events.length === 0) return;
    this.#pending = [];
    const body = this.#log.add(events);
    for (const subscription of this.#subscriptions.values())
      if (subscription.isCurrent) sendSet(subscription, body);
  }

  /** Sends a state to all that wait for one, at once; who asks in the meantime gets the next. */
  async #sendStates(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      for (;;) {
        const asked = [...this.#subscriptions.values()].filter(({ isCurrent }) => !isCurrent);
        if (asked.length === 0) return;
        // A router may come with changes from another replica that have not arrived here yet.
        await this.#caughtUp();
        await new Promise((resolve) => setImmediate(resolve));
        const waiting = asked.filter((one) => this.#subscriptions.get(one.router) === one);
        this.#add(this.#edgeEvents(true));
        this.#flush();
        const { index } = this.#log;
        const origin = { index, timelineId: this.#timelineId };
        for (const subscription of await sendFullState(waiting, origin, this.#entities())) {
          if (this.#subscriptions.get(subscription.router) !== subscription) continue;
          const missed = this.#log.since(index);
          // So much changed in the meantime that it gets another state.
          if (missed === undefined) continue;
          subscription.isCurrent = true;
          for (const body of missed) sendSet(subscription, body);
        }
        // A router that did not read starts again when it renews its subscription.
        for (const subscription of waiting) {
          const { router } = subscription;
          if (!subscription.isCurrent && this.#subscriptions.get(router) === subscription)
            if (!router.channel.isWritable) this.#subscriptions.delete(router);
        }
      }
    } finally {
      this.#isSending = false;
    }
  }

  /**
   * The whole model as routers have it once they have read what was sent to them before this resolves. It is built in turns
   * of the loop, and again if it changed in the meantime. Rejects if it always does.
   */
  async state(): Promise<CtrlInit<'dataState'>> {
    for (let attempt = 0; attempt < MAX_STATE_ATTEMPTS; attempt += 1) {
      this.#add(this.#edgeEvents(true));
      this.#flush();
      const { index } = this.#log;
      const events: DataEvent[] = [];
      for (const model of this.#entities()) {
        events.push({ model });
        if (events.length % MAX_SET_EVENTS === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      this.#add(this.#edgeEvents(true));
      this.#flush();
      if (this.#log.index === index) return { events, endIndex: index, timelineId: this.#timelineId };
    }
    throw new Error('the data model changes all the time');
  }

  /** The model as of the call, which contains the changes up to the index only if none is pending. */
  #entities(): Generator<DataEntity, void> {
    return dataModelSnapshot({
      model: this.#model,
      identities: this.#identities,
      keys: this.#serviceKeys(),
      revocations: this.#revocations,
      interceptDomain: this.#interceptDomain,
    });
  }
}

function headersOf({ subscriptionId }: Subscription): HeaderWriter {
  const headers = new HeaderWriter();
  return subscriptionId === '' ? headers : headers.text(headerId.dataModel.subscriptionId, subscriptionId);
}

function sendSet(subscription: Subscription, body: Uint8Array<ArrayBuffer>): void {
  const headers = headersOf(subscription);
  subscription.router.send(makeFrame(ctrlMessages.dataStateChangeSet.contentType, { headers, body }));
}
