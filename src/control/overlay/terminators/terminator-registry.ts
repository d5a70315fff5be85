/**
 * All terminators, in memory for every circuit and in the store for restarts. For one that a program hosts, memory changes
 * at once and the store follows; a caller that answers a router waits for the store. For one that a router dials, the store
 * changes first, and memory follows it through the model (ADR 0084). Terminators of other control planes' routers are
 * included, because a router may connect here next.
 */
import { FrontdoorError } from '#base';
import type { PeerData } from '#wire/circuits';
import type { OverlayModel } from '../model/overlay-model.ts';
import { encodePeerData } from '../records/peer-data-column.ts';
import type { Change, Queries, Store } from '../../store/mod.ts';
import {
  changeFabricTerminator,
  createFabricTerminator,
  deleteFabricTerminators,
  deleteRows,
  deleteRowsOf,
  insertRow,
  lockFabricTerminator,
  readRows,
  updateRow,
  type FabricTerminator,
  type NewFabricTerminator,
  type StoredTerminator,
} from '../records/terminator-store.ts';

export const Precedence = { default: 0, required: 1, failed: 2 } as const;

/** Where a circuit can end: of a share, of a service of the fabric, or of one of the edge management API. */
export interface Terminator extends FabricTerminator {
  /** The hosting identity; undefined for an address that the router itself dials. */
  readonly identityId: string | undefined;
  /** Undefined without a host. In Unix milliseconds. */
  readonly createdAtMs: number | undefined;
  /** Another one after each bind, so that reports about the host of an earlier bind can be recognized. */
  marker: bigint;
  /** Has the public key of the process that hosts the service now. */
  peerData: PeerData;
  cost: number;
  precedence: number;
  /** False after a report that the service does not work there. Not stored, because hosts and routers report it again. */
  isHealthy: boolean;
}

export type TerminatorOfHost = Terminator & StoredTerminator;

/** Whether a program hosts it. */
export function isHosted(terminator: Terminator): terminator is TerminatorOfHost {
  return terminator.identityId !== undefined;
}

export type TerminatorListener = (terminator: Terminator, change: 'added' | 'changed' | 'removed') => void;

export interface TerminatorChange {
  readonly peerData?: PeerData | undefined;
  readonly cost?: number | undefined;
  readonly precedence?: number | undefined;
}

const ROWS_AT_ONCE = 500;
const EMPTY: ReadonlyMap<string, Terminator> = new Map();

export class TerminatorRegistry {
  readonly #store: Store;
  readonly #terminators = new Map<string, Terminator>();
  readonly #byService = new Map<string, Map<string, Terminator>>();
  readonly #byRouter = new Map<string, Map<string, Terminator>>();
  /** The number of terminators by router, then by the identity that hosts them; undefined for those that it dials. */
  readonly #hosts = new Map<string, Map<string | undefined, number>>();
  readonly #listeners: TerminatorListener[] = [];
  readonly #boundAgain: ((terminator: TerminatorOfHost) => void)[] = [];
  /** Terminators that are being written or deleted here. Notifications about them are our own. */
  readonly #writing = new Set<string>();
  #nextMarker = 1n;

  constructor(store: Store, model: OverlayModel) {
    this.#store = store;
    store.onChange((changes) => this.#onChanges(changes));
    for (const dialed of model.fabricTerminators()) this.#onDialed(dialed.id, dialed);
    model.onChange(({ type, id }) => {
      if (type === 'fabric-terminator') this.#onDialed(id, model.fabricTerminator(id));
    });
  }

  onChange(listener: TerminatorListener): void {
    this.#listeners.push(listener);
  }

  /** A host bound a known terminator, possibly another process of it or over another channel. */
  onBoundAgain(listener: (terminator: TerminatorOfHost) => void): void {
    this.#boundAgain.push(listener);
  }

  get size(): number {
    return this.#terminators.size;
  }

  get(id: string): Terminator | undefined {
    return this.#terminators.get(id);
  }

  ofService(serviceId: string): ReadonlyMap<string, Terminator> {
    return this.#byService.get(serviceId) ?? EMPTY;
  }

  ofRouter(routerId: string): ReadonlyMap<string, Terminator> {
    return this.#byRouter.get(routerId) ?? EMPTY;
  }

  /** How many the identity hosts at the router, connected or not. Without an identity, how many the router dials. */
  countAt(routerId: string, identityId: string | undefined): number {
    return this.#hosts.get(routerId)?.get(identityId) ?? 0;
  }

  all(): IterableIterator<Terminator> {
    return this.#terminators.values();
  }

  async load(): Promise<void> {
    for (const terminator of await readRows(this.#store.db)) this.#put(terminator);
  }

  /**
   * Adds an address that its router dials. Resolves to its id. Errors: `conflict` if the service or router was deleted, or the
   * service has too many.
   */
  async addDialed(wanted: NewFabricTerminator, nowMs: number): Promise<string> {
    const { id } = await this.#store.transaction((trx, touch) =>
      createFabricTerminator(trx, touch, wanted, nowMs),
    );
    return id;
  }

  /** Adds one that a program hosts. Rejects and removes it from memory if the store refuses the row. */
  async add(terminator: StoredTerminator): Promise<void> {
    const added = this.#put(terminator);
    try {
      await this.#write([added.id], (trx) => insertOrMeet(trx, added));
    } catch (error) {
      // Circuits may have been made to it in the meantime.
      this.#forget([added]);
      throw error;
    }
    if (this.#terminators.get(added.id) === added) {
      this.#notify(added, 'added');
      return;
    }
    // It was removed during the write, so its row must be deleted too.
    await this.#deleteRows([added]);
    throw new FrontdoorError('conflict', 'terminator-removed', 'the terminator was removed in the meantime');
  }

  /**
   * Cost and precedence are in force at once if a program hosts it, peer data when this resolves: the router then learns that
   * its circuits may go to the process of the new key, and dialers must not have the key earlier. Resolves to false if there
   * is no such terminator that a router may change.
   */
  async update(terminator: Terminator, change: TerminatorChange): Promise<boolean> {
    if (isHosted(terminator)) {
      await this.#updateHosted(terminator, change);
      return this.#terminators.get(terminator.id) === terminator;
    }
    return this.#store.transaction(async (trx, touch) => {
      const before = await lockFabricTerminator(trx, terminator.id);
      if (before !== undefined) await changeFabricTerminator(trx, touch, before, change);
      return before !== undefined;
    });
  }

  async #updateHosted(terminator: TerminatorOfHost, change: TerminatorChange): Promise<void> {
    const { cost, precedence } = change;
    const next = { ...terminator };
    if (!applyChange(next, change)) return;
    if (applyChange(terminator, { cost, precedence })) this.#notify(terminator, 'changed');
    await this.#write([terminator.id], (trx) => updateRow(trx, next));
    const isCurrent = this.#terminators.get(terminator.id) === terminator;
    if (isCurrent && applyChange(terminator, { peerData: change.peerData }))
      this.#notify(terminator, 'changed');
  }

  /**
   * A host binds a known terminator. Its router dials the new bind from when it learns of this, so that reports about dials
   * that were routed earlier do not concern it. Returns false if the terminator was removed in the meantime.
   */
  async bindAgain(terminator: TerminatorOfHost, change: TerminatorChange): Promise<boolean> {
    if (!(await this.update(terminator, change))) return false;
    terminator.marker = this.#marker();
    // The router is answered first: before that it would lead a probe to the former host.
    setImmediate(() => {
      if (this.#terminators.get(terminator.id) !== terminator) return;
      for (const listener of this.#boundAgain) listener(terminator);
    });
    return true;
  }

  setHealth(terminator: Terminator, isHealthy: boolean): void {
    if (terminator.isHealthy === isHealthy) return;
    terminator.isHealthy = isHealthy;
    this.#notify(terminator, 'changed');
  }

  /** Addresses that an administrator set for a service of the edge management API stay. */
  async remove(terminators: readonly Terminator[]): Promise<void> {
    await this.#deleteRows(this.#forget(terminators.filter(isHosted)));
    const dialed = terminators.flatMap((terminator) => (isHosted(terminator) ? [] : terminator.id));
    for (let at = 0; at < dialed.length; at += ROWS_AT_ONCE) {
      const some = dialed.slice(at, at + ROWS_AT_ONCE);
      await this.#store.transaction((trx, touch) => deleteFabricTerminators(trx, touch, some));
    }
  }

  /**
   * Removes those of `ids` that belong to the router. A shared store may have rows of terminators that were removed from
   * memory alone.
   */
  async removeOf(routerId: string, ids: readonly string[]): Promise<void> {
    const unknown = ids.filter((id) => !this.#terminators.has(id));
    await this.remove(ids.flatMap((id) => this.ofRouter(routerId).get(id) ?? []));
    if (!this.#store.isShared || unknown.length === 0) return;
    await this.#store.transaction(async (trx, touch) => {
      const left = unknown.filter((id) => !this.#terminators.has(id));
      for (const id of await deleteRowsOf(trx, routerId, left)) touch('terminator', id);
    });
  }

  /**
   * The same for terminators that the model no longer permits. Shared rows were deleted with the resource that
   * they named, or belong to a change that this control plane has not received yet, or are deleted when their router
   * removes them (`removeOf`).
   */
  async removeDisallowed(terminators: readonly TerminatorOfHost[]): Promise<void> {
    if (this.#store.isShared) this.#forget(terminators);
    else await this.remove(terminators);
  }

  #forget<T extends Terminator>(terminators: readonly T[]): T[] {
    const known = terminators.filter((each) => this.#terminators.get(each.id) === each);
    for (const terminator of known) this.#drop(terminator);
    for (const terminator of known) this.#notify(terminator, 'removed');
    return known;
  }

  async #deleteRows(gone: readonly Pick<StoredTerminator, 'id'>[]): Promise<void> {
    const ids = gone.map(({ id }) => id);
    for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
      const some = ids.slice(at, at + ROWS_AT_ONCE);
      await this.#write(some, (trx) => deleteRows(trx, some));
    }
  }

  /** One transaction of which others are notified. */
  async #write(ids: readonly string[], work: (trx: Queries) => Promise<void>): Promise<void> {
    for (const id of ids) this.#writing.add(id);
    try {
      await this.#store.transaction(async (trx, touch) => {
        await work(trx);
        for (const id of ids) touch('terminator', id);
      });
    } finally {
      for (const id of ids) this.#writing.delete(id);
    }
  }

  async #onChanges(changes: readonly Change[]): Promise<void> {
    const isAll = changes.some(({ entity }) => entity === 'everything');
    const named = changes.filter(({ entity }) => entity === 'terminator').map(({ id }) => id);
    const ids = (isAll ? [...this.#terminators.keys()] : named).filter((id) => !this.#writing.has(id));
    if (!isAll && ids.length === 0) return;
    const known = ids.flatMap((id) => this.#terminators.get(id) ?? []).filter(isHosted);
    const stored = await readRows(this.#store.db, isAll ? undefined : ids);
    const present = new Set(stored.map(({ id }) => id));
    // One that was added during the read is none of those that the read would have found.
    this.#forget(known.filter(({ id }) => !present.has(id)));
    for (const terminator of stored) if (!this.#writing.has(terminator.id)) this.#take(terminator);
  }

  #take(stored: StoredTerminator): void {
    const known = this.#terminators.get(stored.id);
    if (known !== undefined && isSame(known, stored)) {
      if (applyChange(known, stored)) this.#notify(known, 'changed');
      return;
    }
    if (known !== undefined) this.#forget([known]);
    this.#notify(this.#put(stored), 'added');
  }

  /** One that its router dials was added, changed or removed in the model. With another place, it is another terminator. */
  #onDialed(id: string, dialed: FabricTerminator | undefined): void {
    const known = this.#terminators.get(id);
    if (known !== undefined && dialed !== undefined && isSamePlace(known, dialed)) {
      // The operator changed it, so that it is tried again.
      if (known.cost !== dialed.cost || known.precedence !== dialed.precedence) known.isHealthy = true;
      if (applyChange(known, dialed)) this.#notify(known, 'changed');
      return;
    }
    if (known !== undefined) this.#forget([known]);
    if (dialed === undefined) return;
    this.#notify(this.#put({ ...dialed, identityId: undefined, createdAtMs: undefined }), 'added');
  }

  #marker(): bigint {
    const marker = this.#nextMarker;
    this.#nextMarker += 1n;
    return marker;
  }

  #put<T extends Omit<Terminator, 'marker' | 'isHealthy'>>(stored: T): T & Terminator {
    const former = this.#terminators.get(stored.id);
    if (former !== undefined) this.#drop(former);
    const terminator = { ...stored, marker: this.#marker(), isHealthy: true };
    this.#terminators.set(terminator.id, terminator);
    this.#countHost(terminator, 1);
    indexed(this.#byService, terminator.serviceId).set(terminator.id, terminator);
    indexed(this.#byRouter, terminator.routerId).set(terminator.id, terminator);
    return terminator;
  }

  #drop(terminator: Terminator): void {
    this.#terminators.delete(terminator.id);
    this.#countHost(terminator, -1);
    unindexed(this.#byService, terminator.serviceId, terminator.id);
    unindexed(this.#byRouter, terminator.routerId, terminator.id);
  }

  #countHost({ routerId, identityId }: Terminator, change: 1 | -1): void {
    let hosts = this.#hosts.get(routerId);
    if (hosts === undefined) this.#hosts.set(routerId, (hosts = new Map()));
    const count = (hosts.get(identityId) ?? 0) + change;
    if (count > 0) hosts.set(identityId, count);
    else hosts.delete(identityId);
    if (hosts.size === 0) this.#hosts.delete(routerId);
  }

  #notify(terminator: Terminator, change: 'added' | 'changed' | 'removed'): void {
    for (const listener of this.#listeners) listener(terminator, change);
  }
}

function indexed(index: Map<string, Map<string, Terminator>>, key: string): Map<string, Terminator> {
  let found = index.get(key);
  if (found === undefined) index.set(key, (found = new Map()));
  return found;
}

function unindexed(index: Map<string, Map<string, Terminator>>, key: string, id: string): void {
  const found = index.get(key);
  if (found?.delete(id) === true && found.size === 0) index.delete(key);
}

/** A router sends a new terminator to each of its control planes; the row of the first one serves all. */
async function insertOrMeet(trx: Queries, terminator: StoredTerminator): Promise<void> {
  if (await insertRow(trx, terminator)) return;
  const [met] = await readRows(trx, [terminator.id]);
  if (met === undefined || !isSame(met, terminator)) {
    throw new FrontdoorError('conflict', 'terminator-taken', 'this terminator id is taken');
  }
}

function isSame(a: Omit<Terminator, 'marker' | 'isHealthy'>, b: StoredTerminator): boolean {
  return a.serviceId === b.serviceId && a.routerId === b.routerId && a.identityId === b.identityId;
}

function isSamePlace(a: FabricTerminator, b: FabricTerminator): boolean {
  const fields = ['serviceId', 'routerId', 'binding', 'address', 'instanceId'] as const;
  return fields.every((field) => a[field] === b[field]);
}

/** Returns whether anything differs. */
function applyChange(terminator: Terminator, change: TerminatorChange): boolean {
  const {
    peerData = terminator.peerData,
    cost = terminator.cost,
    precedence = terminator.precedence,
  } = change;
  const isSameData =
    peerData === terminator.peerData || encodePeerData(peerData) === encodePeerData(terminator.peerData);
  if (isSameData && cost === terminator.cost && precedence === terminator.precedence) return false;
  Object.assign(terminator, { peerData, cost, precedence });
  return true;
}
