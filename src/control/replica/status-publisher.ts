/**
 * Publishes the measurements of this control plane for the others: changes within a fifth of a second together,
 * at most `MAX_ROWS` at once, and only of services whose host is connected here.
 */
import type { MeasuredKind, Measurements, OverlayModel } from '../overlay/model/mod.ts';
import type { Store } from '../store/mod.ts';

export const PUBLISH_MS = 200;
const MAX_ROWS = 500;

/** The address for SDKs of a router that is connected here. */
export interface RouterAddress {
  readonly hostname: string;
  readonly port: number;
}

export interface StatusPublisherOptions {
  readonly replicaId: string;
  readonly store: Store;
  readonly model: OverlayModel;
  readonly measurements: Measurements;
  /** Returns undefined if it is not connected here. */
  readonly router: (id: string) => RouterAddress | undefined;
}

interface Row {
  readonly kind: MeasuredKind;
  readonly id: string;
  /** Undefined if there is nothing left to publish. */
  readonly state: string | undefined;
}

const UNCONNECTED = 'false';
/** Not connected, and a missing router, which are the defaults for anything never written. */
const NOTHING: ReadonlySet<string> = new Set([UNCONNECTED, 'null']);

export class StatusPublisher {
  readonly #options: StatusPublisherOptions;
  /** Entries that may differ from the written ones; bounded by the model, whose ids they have. */
  readonly #dirty = new Map<string, { readonly kind: MeasuredKind; readonly id: string }>();
  readonly #written = new Map<string, string>();
  #version = 0;

  constructor(options: StatusPublisherOptions) {
    this.#options = options;
    options.measurements.onMeasured((kind, id) => this.mark(kind, id));
    options.model.onChange(({ type, id, removed }) => {
      if (!removed) return;
      this.mark(type === 'service' ? 'service' : 'identity', id);
      if (type === 'identity') this.mark('router', id);
    });
  }

  get isDue(): boolean {
    return this.#dirty.size > 0;
  }

  mark(kind: MeasuredKind, id: string): void {
    this.#dirty.set(`${kind} ${id}`, { kind, id });
  }

  /** The others have no rows of this control plane, so everything must be written again. */
  markAll(): void {
    this.#written.clear();
    for (const { id, kind } of this.#options.model.identities()) {
      this.mark(kind === 'router' ? 'router' : 'identity', id);
    }
  }

  /** Writes a batch of due entries. If it throws, they stay due. */
  async publish(): Promise<void> {
    const { store, replicaId } = this.#options;
    const batch = this.#firstDirty();
    for (const [key] of batch) this.#dirty.delete(key);
    const changed = batch
      .map(([key, { kind, id }]) => ({ key, row: this.#rowOf(kind, id) }))
      .filter(({ key, row }) => row.state !== this.#written.get(key));
    if (changed.length === 0) return;
    const version = this.#version + 1;
    try {
      await store.transaction(async (trx, touch) => {
        const values = changed.flatMap(({ row: { kind, id, state } }) =>
          state === undefined ? [] : [{ replica_id: replicaId, kind, id, state, version }],
        );
        if (values.length > 0) {
          await trx
            .insertInto('replica_status')
            .values(values)
            .onConflict((conflict) =>
              conflict
                .columns(['replica_id', 'kind', 'id'])
                .doUpdateSet((eb) => ({ state: eb.ref('excluded.state'), version })),
            )
            .execute();
        }
        // The others removed it themselves, because its subject is gone from their models too.
        const gone = changed.filter(({ row }) => row.state === undefined).map(({ row }) => row.id);
        if (gone.length > 0) {
          await trx
            .deleteFrom('replica_status')
            .where('replica_id', '=', replicaId)
            .where('id', 'in', gone)
            .execute();
        }
        touch('replica', replicaId);
      });
    } catch (error) {
      for (const [key, what] of batch) this.#dirty.set(key, what);
      throw error;
    }
    this.#version = version;
    for (const { key, row } of changed) this.#note(key, row);
  }

  /** Not a copy of the whole: as many may be due as there are services. */
  #firstDirty() {
    const batch = [];
    for (const entry of this.#dirty) {
      if (batch.length === MAX_ROWS) break;
      batch.push(entry);
    }
    return batch;
  }

  #note(key: string, { kind, id, state }: Row): void {
    if (state === undefined) {
      this.#written.delete(key);
      return;
    }
    const before = this.#written.get(key);
    this.#written.set(key, state);
    if (kind !== 'identity' || state === UNCONNECTED || before === state) return;
    // From now on, the measurements of this control plane count for its services.
    const { model } = this.#options;
    for (const serviceId of model.hostedBy(id)) this.mark('service', serviceId);
  }

  #rowOf(kind: MeasuredKind, id: string): Row {
    const { model, measurements } = this.#options;
    if (kind === 'service') {
      const service = model.hostedService(id);
      if (service === undefined) return { kind, id, state: undefined };
      const measured = measurements.isConnected(service.hostId) ? measurements.measured(id) : undefined;
      const state = measured === undefined ? this.#written.get(`service ${id}`) : JSON.stringify(measured);
      return { kind, id, state };
    }
    if (model.identity(id) === undefined) return { kind, id, state: undefined };
    const state = JSON.stringify(
      kind === 'router' ? (this.#options.router(id) ?? null) : measurements.isConnected(id),
    );
    // The others assume this value already.
    const isNews = NOTHING.has(state) ? this.#written.has(`${kind} ${id}`) : true;
    return { kind, id, state: isNews ? state : undefined };
  }
}
