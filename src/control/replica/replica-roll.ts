/**
 * The list of control planes over the shared database: each has a row that it renews every 5 s. A control plane
 * whose row did not change during four of our own renewals is dead, and its row is removed with its measurements.
 * Clocks are not compared.
 */
import { randomUUID } from 'node:crypto';
import { messageOf, type Clock, type Log } from '#base';
import type { EdgeController } from '../overlay/model/mod.ts';
import type { ReplicaTable, Store } from '../store/mod.ts';
import type { ClusterMemberList } from './cluster-members.ts';

export const HEARTBEAT_MS = 5_000;
export const DEAD_AFTER_BEATS = 4;
/** Limit for the kept addresses of running and dead control planes. */
const MAX_URLS = 64;
const DEAD_REMEMBERED_MS = 86_400_000;

export interface ReplicaRollOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after each read of the rows. */
  readonly members?: ClusterMemberList;
}

/** Addresses at which others reach this control plane. */
export interface OwnAddresses {
  /** {base_url}. */
  readonly apiUrl: string;
  /** `tls:host:port`, which routers dial. */
  readonly ctrlAddress: string;
  /** Common name of its control certificate. */
  readonly controllerId: string;
  /** `https://host:port` of the edge API, the preferred one first. */
  readonly edgeApiUrls: readonly string[];
  /** Current leaf of the edge API, PEM. */
  readonly edgeCertificatePem: () => string;
}

export interface ControlPlanePresence {
  /** {base_url}. */
  readonly apiUrl: string;
  /** When it last renewed its row; undefined if it runs. */
  readonly silentSinceMs: number | undefined;
}

interface Sighting {
  /** The last value in its row. */
  readonly seenAt: number;
  readonly ctrlAddress: string | null;
  readonly apiUrl: string;
  /** Undefined for a version that does not report it. */
  readonly controller: EdgeController | undefined;
  /** Our own heartbeats since that value changed. */
  readonly missed: number;
}

export class ReplicaRoll {
  /** Id of this process. */
  readonly id = randomUUID();
  readonly #options: ReplicaRollOptions;
  readonly #others = new Map<string, Sighting>();
  readonly #urls = new Set<string>();
  /** {base_url} of those that died without leaving, with the time of their last heartbeat. */
  readonly #dead = new Map<string, number>();
  /** By controller id. */
  readonly #deadControllers = new Map<string, EdgeController & { readonly untilMs: number }>();
  #own: OwnAddresses | undefined;
  #startedAtMs = 0;

  constructor(options: ReplicaRollOptions) {
    this.#options = options;
  }

  /** Other running control planes. */
  get others(): IterableIterator<string> {
    return this.#others.keys();
  }

  isLive(id: string): boolean {
    return this.#others.has(id);
  }

  /** {base_url} of every control plane seen since the start. */
  get apiUrls(): readonly string[] {
    return [...this.#urls];
  }

  /**
   * Running control planes, and those that died without leaving in the last 24 hours, as far as this process has
   * seen it.
   */
  get controlPlanes(): readonly ControlPlanePresence[] {
    const oldestMs = this.#options.clock.nowMs() - DEAD_REMEMBERED_MS;
    const running = [this.#own?.apiUrl ?? '', ...[...this.#others.values()].map(({ apiUrl }) => apiUrl)];
    const dead = [...this.#dead].filter(([url, sinceMs]) => sinceMs >= oldestMs && !running.includes(url));
    return [
      ...running.filter((url) => url !== '').map((apiUrl) => ({ apiUrl, silentSinceMs: undefined })),
      ...dead.map(([apiUrl, silentSinceMs]) => ({ apiUrl, silentSinceMs })),
    ];
  }

  /** Like `controlPlanes`, as SDKs see them, in the order of their ids. */
  get controllers(): readonly EdgeController[] {
    const nowMs = this.#options.clock.nowMs();
    const running = [
      this.#ownController(),
      ...[...this.#others.values()].map(({ controller }) => controller),
    ];
    const found = new Map<string, EdgeController>();
    for (const { untilMs, ...controller } of this.#deadControllers.values())
      if (untilMs > nowMs) found.set(controller.id, controller);
    for (const controller of running) if (controller !== undefined) found.set(controller.id, controller);
    return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Rejects with errors of the store. */
  async join(own: OwnAddresses): Promise<void> {
    this.#own = own;
    this.#startedAtMs = this.#options.clock.nowMs();
    await this.beat();
  }

  /**
   * Renews the own row, checks the others' rows, and removes the dead. Resolves to true if the own row was
   * missing, so that the measurements of this process are gone as well.
   */
  async beat(): Promise<boolean> {
    const { store, clock } = this.#options;
    const nowMs = clock.nowMs();
    const row = {
      id: this.id,
      api_url: this.#own?.apiUrl ?? '',
      ctrl_address: this.#own?.ctrlAddress ?? null,
      controller_id: this.#own?.controllerId ?? null,
      edge_api_urls: this.#own?.edgeApiUrls.join(' ') ?? null,
      edge_certificate: this.#own?.edgeCertificatePem() ?? null,
      started_at: this.#startedAtMs,
      seen_at: nowMs,
    };
    const isNew = await store.transaction(async (trx, touch) => {
      const { numUpdatedRows } = await trx
        .updateTable('replica')
        .set({ seen_at: nowMs, edge_certificate: row.edge_certificate })
        .where('id', '=', this.id)
        .executeTakeFirst();
      if (numUpdatedRows > 0n) return false;
      await trx.insertInto('replica').values(row).execute();
      touch('replica', this.id);
      return true;
    });
    await this.look();
    let buried = 0;
    for (const [id, sighting] of this.#others) {
      if (sighting.missed >= DEAD_AFTER_BEATS) {
        await this.#bury(id, sighting);
        buried += 1;
      } else this.#others.set(id, { ...sighting, missed: sighting.missed + 1 });
    }
    if (buried > 0) await this.look();
    return isNew;
  }

  /** Only reads the rows. */
  async look(): Promise<void> {
    const { store, log, members } = this.#options;
    const all = await store.db.selectFrom('replica').selectAll().execute();
    const rows = all.filter(({ id }) => id !== this.id);
    const present = new Set(rows.map(({ id }) => id));
    for (const id of this.#others.keys()) if (!present.has(id)) this.#forget(id, 'it left');
    for (const row of rows) {
      const { id, seen_at: seenAt, api_url: url, ctrl_address: ctrlAddress } = row;
      const known = this.#others.get(id);
      if (known?.seenAt === seenAt) continue;
      const controller = controllerOf(row);
      this.#others.set(id, { seenAt, ctrlAddress, apiUrl: url, controller, missed: 0 });
      this.#dead.delete(url);
      if (controller !== undefined) this.#deadControllers.delete(controller.id);
      this.#remember(url);
      if (known === undefined) log.info({ replica: id, url }, 'another control plane uses this database');
    }
    // Without its own row, this process is not a member. The next heartbeat restores it.
    if (members === undefined || rows.length === all.length) return;
    await members.refresh(
      this.id,
      all.map((row) => ({ id: row.id, ctrlAddress: row.ctrl_address, startedAtMs: row.started_at })),
    );
  }

  /** Removes the own row, so that nobody waits for a heartbeat. */
  async leave(): Promise<void> {
    const { store, log } = this.#options;
    try {
      await store.transaction(async (trx, touch) => {
        await trx.deleteFrom('replica').where('id', '=', this.id).execute();
        touch('replica', this.id);
      });
    } catch (error) {
      log.warn({ err: messageOf(error) }, 'the other control planes could not be notified of the shutdown');
    }
  }

  async #bury(id: string, { seenAt, ctrlAddress, apiUrl, controller }: Sighting): Promise<void> {
    const { store, members } = this.#options;
    members?.onDied(ctrlAddress);
    if (controller !== undefined) this.#rememberDead(controller);
    this.#dead.delete(apiUrl);
    // Uses the clock of this process, because the other one's is not trusted.
    this.#dead.set(apiUrl, this.#options.clock.nowMs() - DEAD_AFTER_BEATS * HEARTBEAT_MS);
    if (this.#dead.size > MAX_URLS) this.#dead.delete(this.#dead.keys().next().value!);
    await store.db.deleteFrom('replica').where('id', '=', id).where('seen_at', '=', seenAt).execute();
    this.#forget(id, 'it has sent no heartbeat for too long');
  }

  #ownController(): EdgeController | undefined {
    if (this.#own === undefined) return undefined;
    const { controllerId: id, edgeApiUrls: apiUrls, edgeCertificatePem } = this.#own;
    const startedAtMs = this.#startedAtMs;
    return { id, apiUrls, certificatePem: edgeCertificatePem(), startedAtMs, isOnline: true };
  }

  #rememberDead(controller: EdgeController): void {
    const untilMs = this.#options.clock.nowMs() + DEAD_REMEMBERED_MS;
    this.#deadControllers.delete(controller.id);
    this.#deadControllers.set(controller.id, { ...controller, isOnline: false, untilMs });
    if (this.#deadControllers.size > MAX_URLS)
      this.#deadControllers.delete(this.#deadControllers.keys().next().value!);
  }

  #forget(id: string, reason: string): void {
    this.#others.delete(id);
    this.#options.log.info({ replica: id, reason }, 'another control plane left');
  }

  #remember(url: string): void {
    this.#urls.delete(url);
    this.#urls.add(url);
    if (this.#urls.size > MAX_URLS) this.#urls.delete(this.#urls.values().next().value!);
  }
}

function controllerOf(row: ReplicaTable): EdgeController | undefined {
  const { controller_id: id, edge_api_urls: urls, edge_certificate: certificatePem } = row;
  if (id === null || urls === null || certificatePem === null) return undefined;
  return { id, apiUrls: urls.split(' '), certificatePem, startedAtMs: row.started_at, isOnline: true };
}
