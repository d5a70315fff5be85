/**
 * This control plane among others over one database (ADR 0011): it publishes its measurements, reads those of the
 * others, and gives the same responses as they do. The control plane to which an environment is connected decides
 * the state of its services.
 */
import { BackOff, messageOf, type Clock, type Log } from '#base';
import type {
  EdgeController,
  EdgeRouter,
  MeasuredService,
  Measurements,
  OverlayModel,
  ServiceStatus,
  StatusBoard,
} from '../overlay/model/mod.ts';
import { serviceStatusAt, type ClusterSource } from '../overlay/mod.ts';
import type { Change, Store } from '../store/mod.ts';
import { ClusterMemberList } from './cluster-members.ts';
import { OthersStatus } from './others-status.ts';
import { HEARTBEAT_MS, ReplicaRoll, type ControlPlanePresence, type OwnAddresses } from './replica-roll.ts';
import { PUBLISH_MS, StatusPublisher } from './status-publisher.ts';

export interface ReplicasOptions {
  readonly store: Store;
  readonly model: OverlayModel;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ReplicaStart extends OwnAddresses {
  readonly measurements: Measurements;
  /** Routers that are or were connected here. */
  readonly routers: () => readonly EdgeRouter[];
}

/** A state that reaches the backend has precedence over one that is not known yet, and that over a failure. */
const RANK: Readonly<Record<ServiceStatus['state'], number>> = { DEPLOYED: 0, PENDING: 1, FAILED: 2 };

export class Replicas {
  /** The control planes for routers. */
  readonly cluster: ClusterSource;
  readonly #options: ReplicasOptions;
  readonly #roll: ReplicaRoll;
  readonly #others: OthersStatus;
  readonly #retry = new BackOff({ minMs: PUBLISH_MS, maxMs: HEARTBEAT_MS, factor: 2 });
  #publisher: StatusPublisher | undefined;
  #timers: NodeJS.Timeout[] = [];
  #work: Promise<unknown> | undefined;
  #notBeforeMs = 0;

  constructor(options: ReplicasOptions) {
    this.#options = options;
    const members = new ClusterMemberList(options.store, options.clock, options.log);
    this.cluster = members;
    this.#roll = new ReplicaRoll({ ...options, members });
    this.#others = new OthersStatus(options.model);
    options.store.onChange((changes) => this.#onChanges(changes));
  }

  /** Those of every control plane seen, because tokens of one are accepted by all. */
  get apiUrls(): readonly string[] {
    return this.#roll.apiUrls;
  }

  /** Running control planes, and those that died recently. */
  get controlPlanes(): readonly ControlPlanePresence[] {
    return this.#roll.controlPlanes;
  }

  /** The control planes for SDKs. */
  get controllers(): readonly EdgeController[] {
    return this.#roll.controllers;
  }

  /** Whether another one has the environment's channel. */
  isConnectedElsewhere(identityId: string): boolean {
    return this.#others.isConnected(identityId);
  }

  /** Whether another one has the router's control channel; undefined if there is no other control plane. */
  get routerElsewhere(): ((routerId: string) => boolean) | undefined {
    if (this.#roll.others.next().done === true) return undefined;
    return (routerId) => this.#others.routers().has(routerId);
  }

  /** Joins the others and begins to exchange measurements. Rejects with errors of the store. */
  async start({ measurements, routers, ...own }: ReplicaStart): Promise<void> {
    const { store, model } = this.#options;
    this.#publisher = new StatusPublisher({
      replicaId: this.#roll.id,
      store,
      model,
      measurements,
      router: (id) => routers().find((router) => router.id === id && router.isOnline),
    });
    await this.#roll.join(own);
    this.#publisher.markAll();
    await this.#readAll();
    this.#timers = [
      setInterval(() => void this.#run(() => this.#beat()), HEARTBEAT_MS),
      setInterval(() => void this.#publishDue(), PUBLISH_MS),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#work;
    if (this.#publisher !== undefined) await this.#roll.leave();
  }

  /** `own` has the measurements of this control plane. */
  board(own: Measurements): StatusBoard {
    return {
      isConnected: (identityId) => own.isConnected(identityId) || this.#others.isConnected(identityId),
      channels: (identityId) =>
        [own.isConnected(identityId) ? this.#roll.id : '', ...this.#others.connectedAt(identityId)].join(' '),
      service: (serviceId) => this.#service(own, serviceId),
      onMeasured: (listener) => {
        own.onMeasured(listener);
        this.#others.onMeasured(listener);
      },
    };
  }

  /** Adds the routers that are connected to the others to `own`. */
  routers(own: readonly EdgeRouter[]): EdgeRouter[] {
    const elsewhere = this.#others.routers();
    const byId = new Map(own.map((router) => [router.id, router]));
    for (const [id, address] of elsewhere) {
      const name = this.#options.model.identity(id)?.name;
      if (name === undefined || byId.get(id)?.isOnline === true) continue;
      byId.set(id, { id, name, hostname: address.hostname, port: address.port, isOnline: true });
    }
    return [...byId.values()];
  }

  #service(own: Measurements, serviceId: string): ServiceStatus {
    const environmentId = this.#options.model.hostedService(serviceId)?.hostId ?? '';
    const found: { readonly by: string; readonly measured: MeasuredService | undefined }[] = this.#others
      .connectedAt(environmentId)
      .map((by) => ({ by, measured: this.#others.service(by, serviceId) }));
    if (own.isConnected(environmentId)) found.push({ by: this.#roll.id, measured: own.measured(serviceId) });
    if (found.length === 0) return own.service(serviceId);
    // All replicas select the same: the best one and, among equals, that of the first replica.
    const rank = (measured: MeasuredService | undefined): number => RANK[measured?.state ?? 'PENDING'];
    const best = found.reduce((a, b) => {
      const difference = rank(a.measured) - rank(b.measured);
      return difference < 0 || (difference === 0 && a.by < b.by) ? a : b;
    });
    return serviceStatusAt(best.measured, this.#options.clock.nowMs());
  }

  async #beat(): Promise<void> {
    if (await this.#roll.beat()) this.#publisher?.markAll();
    await this.#readAll();
  }

  async #readAll(): Promise<void> {
    this.#others.retain((id) => this.#roll.isLive(id));
    for (const id of this.#roll.others) await this.#others.read(this.#options.store.db, id);
  }

  async #publishDue(): Promise<void> {
    const { clock } = this.#options;
    const publisher = this.#publisher;
    if (publisher?.isDue !== true || clock.monotonicMs() < this.#notBeforeMs) return;
    if (await this.#run(() => publisher.publish())) {
      this.#retry.reset();
      this.#notBeforeMs = 0;
    } else this.#notBeforeMs = clock.monotonicMs() + this.#retry.next();
  }

  /** One at a time. After a failure the timers retry. */
  async #run(work: () => Promise<void>): Promise<boolean> {
    if (this.#work !== undefined) return true;
    const done = work().then(
      () => true,
      (error: unknown) => {
        this.#options.log.warn({ err: messageOf(error) }, 'shared measurements could not be read or written');
        return false;
      },
    );
    this.#work = done;
    const isDone = await done;
    this.#work = undefined;
    return isDone;
  }

  async #onChanges(changes: readonly Change[]): Promise<void> {
    if (this.#publisher === undefined) return;
    const { db } = this.#options.store;
    if (changes.some(({ entity }) => entity === 'everything')) {
      await this.#roll.look();
      await this.#readAll();
      return;
    }
    for (const { entity, id } of changes) {
      if (entity !== 'replica' || id === this.#roll.id) continue;
      const isNew = !this.#roll.isLive(id);
      if (isNew) await this.#roll.look();
      const count = this.#roll.isLive(id) ? await this.#others.read(db, id) : 0;
      // No news from a known control plane: it may have left.
      if (count === 0 && !isNew) await this.#roll.look();
    }
    this.#others.retain((id) => this.#roll.isLive(id));
  }
}
