/** The measurements of other control planes in memory, read from their rows, each row once per version. */
import type { MeasuredListener, MeasuredService, OverlayModel } from '../overlay/model/mod.ts';
import type { Queries, ReplicaStatusTable } from '../store/mod.ts';
import type { RouterAddress } from './status-publisher.ts';

const PAGE = 1_000;

/** The rows of one replica. */
interface View {
  version: number;
  readonly connected: Set<string>;
  readonly services: Map<string, MeasuredService>;
  readonly routers: Map<string, RouterAddress>;
}

export class OthersStatus {
  readonly #views = new Map<string, View>();
  /** Reads are serialized, so that an older result never replaces a newer one. */
  #reading: Promise<unknown> = Promise.resolve();
  readonly #listeners: MeasuredListener[] = [];

  /** Entries are removed with the model's, whose ids they have. */
  constructor(model: OverlayModel) {
    model.onChange(({ type, id, removed }) => {
      if (!removed) return;
      for (const view of this.#views.values()) {
        if (type === 'service') view.services.delete(id);
        else {
          view.connected.delete(id);
          view.routers.delete(id);
        }
      }
    });
  }

  /** Reads new rows of a replica and returns their number. Rejects with errors of the store. */
  read(db: Queries, replicaId: string): Promise<number> {
    const read = this.#reading.then(() => this.#read(db, replicaId));
    this.#reading = read.catch(() => {});
    return read;
  }

  async #read(db: Queries, replicaId: string): Promise<number> {
    const view = this.#viewOf(replicaId);
    let count = 0;
    let after: Pick<ReplicaStatusTable, 'version' | 'kind' | 'id'> = {
      version: view.version,
      kind: 'service',
      id: '',
    };
    for (;;) {
      const rows = await db
        .selectFrom('replica_status')
        .selectAll()
        .where('replica_id', '=', replicaId)
        .where(({ eb, refTuple, tuple }) =>
          count === 0
            ? eb('version', '>', after.version)
            : eb(refTuple('version', 'kind', 'id'), '>', tuple(after.version, after.kind, after.id)),
        )
        .orderBy('version')
        .orderBy('kind')
        .orderBy('id')
        .limit(PAGE)
        .execute();
      for (const row of rows) {
        take(view, row);
        this.#notify(row.kind, row.id);
      }
      count += rows.length;
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) break;
      after = last;
    }
    return count;
  }

  /** Removes replicas that no longer run. */
  retain(isLive: (replicaId: string) => boolean): void {
    for (const [replicaId, { connected, routers }] of this.#views) {
      if (isLive(replicaId)) continue;
      this.#views.delete(replicaId);
      for (const id of connected) this.#notify('identity', id);
      for (const id of routers.keys()) this.#notify('router', id);
    }
  }

  /** Calls the listener when a measurement of another control plane has changed. */
  onMeasured(listener: MeasuredListener): void {
    this.#listeners.push(listener);
  }

  /** Returns replicas to which the environment's agent (or SDK) has a channel. */
  connectedAt(identityId: string): string[] {
    return [...this.#views].flatMap(([id, view]) => (view.connected.has(identityId) ? [id] : []));
  }

  isConnected(identityId: string): boolean {
    for (const view of this.#views.values()) if (view.connected.has(identityId)) return true;
    return false;
  }

  service(replicaId: string, serviceId: string): MeasuredService | undefined {
    return this.#views.get(replicaId)?.services.get(serviceId);
  }

  /** By id. A router that is connected to several replicas is listed once. */
  routers(): ReadonlyMap<string, RouterAddress> {
    return new Map([...this.#views.values()].flatMap((view) => [...view.routers]));
  }

  #notify(...measured: Parameters<MeasuredListener>): void {
    for (const listener of this.#listeners) listener(...measured);
  }

  #viewOf(replicaId: string): View {
    let view = this.#views.get(replicaId);
    if (view === undefined) {
      view = { version: 0, connected: new Set(), services: new Map(), routers: new Map() };
      this.#views.set(replicaId, view);
    }
    return view;
  }
}

function take(view: View, { kind, id, state, version }: ReplicaStatusTable): void {
  view.version = version;
  const value: unknown = JSON.parse(state);
  if (kind === 'service') view.services.set(id, value as MeasuredService);
  else if (kind === 'identity') {
    if (value === true) view.connected.add(id);
    else view.connected.delete(id);
  } else if (value === null) view.routers.delete(id);
  else view.routers.set(id, value as RouterAddress);
}
