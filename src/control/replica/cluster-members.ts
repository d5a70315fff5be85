/**
 * The control planes that routers are notified of: running ones and, for a day, those that died without leaving,
 * because they usually come back and a router would not find them otherwise. The oldest running one leads. Each
 * membership has a higher index than all earlier ones, whichever control plane made it: PostgreSQL's own
 * transaction numbers.
 */
import { sql } from 'kysely';
import type { Clock, Log } from '#base';
import type { ClusterMembers, ClusterSource } from '../overlay/mod.ts';
import type { Queries, Store } from '../store/mod.ts';

/** The relevant part of a row of the roll. */
export interface Member {
  readonly id: string;
  /** Null for a version that does not report it, or if not known yet. */
  readonly ctrlAddress: string | null;
  readonly startedAtMs: number;
}

const REMEMBERED_MS = 86_400_000;
const MAX_REMEMBERED = 16;

export class ClusterMemberList implements ClusterSource {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Expiry times by address. */
  readonly #dead = new Map<string, number>();
  readonly #listeners: (() => void)[] = [];
  #members: ClusterMembers | undefined;
  #notified = '';
  readonly #log: Log;

  constructor(store: Store, clock: Clock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  members(): ClusterMembers | undefined {
    return this.#members;
  }

  onMembersChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  onDied(address: string | null): void {
    if (address === null) return;
    this.#dead.delete(address);
    this.#dead.set(address, this.#clock.monotonicMs() + REMEMBERED_MS);
    if (this.#dead.size > MAX_REMEMBERED) this.#dead.delete(this.#dead.keys().next().value!);
  }

  /** Reads the rows, and again under a new index if they changed. Rejects with errors of the store. */
  async refresh(ownId: string, rows: readonly Member[]): Promise<void> {
    if (this.#keyOf(ownId, rows) === this.#notified) return;
    const { db } = this.#store;
    // The index is taken before the rows are read, so that a higher index implies at least as recent rows.
    const index = await nextIndex(db);
    const now = await readMembers(db);
    const key = this.#keyOf(ownId, now);
    if (key === this.#notified) return;
    this.#notified = key;
    this.#warnOfOneAddress(now);
    const addresses = this.#addressesOf(now);
    this.#members =
      addresses === undefined ? undefined : { addresses, index, isLeader: leaderOf(now) === ownId };
    for (const listener of this.#listeners) listener();
  }

  /** Returns undefined while one of them is not known, because routers would drop it. */
  #addressesOf(rows: readonly Member[]): string[] | undefined {
    const addresses = new Set<string>();
    for (const { ctrlAddress } of rows) {
      if (ctrlAddress === null) return undefined;
      addresses.add(ctrlAddress);
    }
    const nowMs = this.#clock.monotonicMs();
    for (const [address, untilMs] of this.#dead) {
      if (untilMs > nowMs && rows.length > 0) addresses.add(address);
      else this.#dead.delete(address);
    }
    return [...addresses].sort();
  }

  /** A router has one connection for each address, so it is at one of them, and no circuit over it is made at the others. */
  #warnOfOneAddress(rows: readonly Member[]): void {
    const addresses = rows.map(({ ctrlAddress }) => ctrlAddress);
    const shared = addresses.find((address, at) => address !== null && addresses.indexOf(address) !== at);
    if (shared === undefined) return;
    const remedy = 'give each of them --ctrl-host, a name that leads to it alone';
    this.#log.warn(
      { address: shared, remedy },
      'control planes have one address for routers, which reach only one',
    );
  }

  #keyOf(ownId: string, rows: readonly Member[]): string {
    return JSON.stringify([this.#addressesOf(rows) ?? null, leaderOf(rows) === ownId]);
  }
}

export async function readMembers(db: Queries): Promise<Member[]> {
  const rows = await db.selectFrom('replica').select(['id', 'ctrl_address', 'started_at']).execute();
  return rows.map((row) => ({ id: row.id, ctrlAddress: row.ctrl_address, startedAtMs: row.started_at }));
}

/** Returns the oldest. All control planes agree, whatever their clocks, because they read the same rows. */
function leaderOf(rows: readonly Member[]): string | undefined {
  let leader: Member | undefined;
  for (const row of rows) {
    const isOlder =
      leader === undefined ||
      row.startedAtMs < leader.startedAtMs ||
      (row.startedAtMs === leader.startedAtMs && row.id < leader.id);
    if (isOlder) leader = row;
  }
  return leader?.id;
}

async function nextIndex(db: Queries): Promise<bigint> {
  const { rows } = await sql<{ index: string }>`select pg_current_xact_id()::text as index`.execute(db);
  return BigInt(rows[0]!.index);
}
