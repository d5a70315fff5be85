/**
 * Where services are hosted: in memory for every circuit, in the store so that a restart forgets nothing. Memory
 * changes at once; the store follows, and a caller that answers a router waits for it.
 */
import type { PeerData } from '#wire';
import { FrontdoorError } from '#base';
import type { Store } from '../store/store.ts';
import type { TerminatorTable as TerminatorRow } from '../store/schema.ts';

export const Precedence = { default: 0, required: 1, failed: 2 } as const;

export interface Terminator {
  readonly id: string;
  readonly serviceId: string;
  readonly routerId: string;
  /** The hosting identity. */
  readonly identityId: string;
  readonly binding: string;
  readonly address: string;
  readonly instanceId: string;
  readonly peerData: PeerData;
  readonly createdAtMs: number;
  /** Tells answers about this terminator from answers about an older one with its id. */
  readonly marker: bigint;
  cost: number;
  precedence: number;
  /** False after its host said that the service does not work. Not stored: the host says it again. */
  isHealthy: boolean;
}

export type NewTerminator = Omit<Terminator, 'marker' | 'isHealthy'>;

export type TerminatorListener = (terminator: Terminator, change: 'added' | 'changed' | 'removed') => void;

const EMPTY: ReadonlyMap<string, Terminator> = new Map();

export class TerminatorRegistry {
  readonly #store: Store;
  readonly #terminators = new Map<string, Terminator>();
  readonly #byService = new Map<string, Map<string, Terminator>>();
  readonly #byRouter = new Map<string, Map<string, Terminator>>();
  readonly #listeners: TerminatorListener[] = [];
  #nextMarker = 1n;

  constructor(store: Store) {
    this.#store = store;
  }

  onChange(listener: TerminatorListener): void {
    this.#listeners.push(listener);
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

  all(): IterableIterator<Terminator> {
    return this.#terminators.values();
  }

  async load(): Promise<void> {
    const rows = await this.#store.db.selectFrom('terminator').selectAll().execute();
    for (const row of rows) this.#put({ ...terminatorOf(row), marker: this.#marker(), isHealthy: true });
  }

  /** Rejects, with nothing left in memory, when the store refuses the row. */
  async add(terminator: NewTerminator): Promise<void> {
    const added: Terminator = { ...terminator, marker: this.#marker(), isHealthy: true };
    this.#put(added);
    try {
      await this.#store.db.insertInto('terminator').values(rowOf(added)).execute();
    } catch (error) {
      if (this.#terminators.get(added.id) === added) this.#drop(added);
      throw error;
    }
    if (this.#terminators.get(added.id) === added) {
      this.#tell(added, 'added');
      return;
    }
    // Removed while it was written: its row must go as well.
    await this.#deleteRows([added.id]);
    throw new FrontdoorError('conflict', 'terminator-removed', 'the terminator was removed meanwhile');
  }

  async update(terminator: Terminator, change: { cost?: number; precedence?: number }): Promise<void> {
    const { cost = terminator.cost, precedence = terminator.precedence } = change;
    if (cost === terminator.cost && precedence === terminator.precedence) return;
    terminator.cost = cost;
    terminator.precedence = precedence;
    this.#tell(terminator, 'changed');
    const { id } = terminator;
    await this.#store.db.updateTable('terminator').set({ cost, precedence }).where('id', '=', id).execute();
  }

  setHealth(terminator: Terminator, isHealthy: boolean): void {
    if (terminator.isHealthy === isHealthy) return;
    terminator.isHealthy = isHealthy;
    this.#tell(terminator, 'changed');
  }

  async remove(terminators: readonly Terminator[]): Promise<void> {
    const known = terminators.filter((each) => this.#terminators.get(each.id) === each);
    for (const terminator of known) this.#drop(terminator);
    for (const terminator of known) this.#tell(terminator, 'removed');
    await this.#deleteRows(known.map(({ id }) => id));
  }

  async #deleteRows(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += 500) {
      await this.#store.db
        .deleteFrom('terminator')
        .where('id', 'in', ids.slice(at, at + 500))
        .execute();
    }
  }

  #marker(): bigint {
    const marker = this.#nextMarker;
    this.#nextMarker += 1n;
    return marker;
  }

  #put(terminator: Terminator): void {
    this.#terminators.set(terminator.id, terminator);
    indexed(this.#byService, terminator.serviceId).set(terminator.id, terminator);
    indexed(this.#byRouter, terminator.routerId).set(terminator.id, terminator);
  }

  #drop(terminator: Terminator): void {
    this.#terminators.delete(terminator.id);
    unindexed(this.#byService, terminator.serviceId, terminator.id);
    unindexed(this.#byRouter, terminator.routerId, terminator.id);
  }

  #tell(terminator: Terminator, change: 'added' | 'changed' | 'removed'): void {
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

function rowOf(terminator: Terminator): TerminatorRow {
  const peerData = [...terminator.peerData].map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ]);
  return {
    id: terminator.id,
    share_id: terminator.serviceId,
    router_id: terminator.routerId,
    identity_id: terminator.identityId,
    binding: terminator.binding,
    address: terminator.address,
    instance_id: terminator.instanceId,
    cost: terminator.cost,
    precedence: terminator.precedence,
    peer_data: JSON.stringify(Object.fromEntries(peerData)),
    created_at: terminator.createdAtMs,
  };
}

function terminatorOf(row: TerminatorRow): NewTerminator {
  const peerData = Object.entries(JSON.parse(row.peer_data) as Record<string, string>);
  return {
    id: row.id,
    serviceId: row.share_id,
    routerId: row.router_id,
    identityId: row.identity_id,
    binding: row.binding,
    address: row.address,
    instanceId: row.instance_id,
    cost: row.cost,
    precedence: row.precedence,
    peerData: new Map(
      peerData.map(([key, value]) => [Number(key), new Uint8Array(Buffer.from(value, 'base64'))]),
    ),
    createdAtMs: row.created_at,
  };
}
