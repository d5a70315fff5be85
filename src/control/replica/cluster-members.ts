/**
 * Which control planes routers are told of: those that run, and for a day those that died without leaving, since they
 * mostly come back and a router that forgot them would not find them. The oldest that runs leads. Each membership has
 * an index above all earlier ones, whichever control plane made it: PostgreSQL's own transaction numbers.
 */
import { sql } from 'kysely';
import type { Clock } from '#base';
import type { ClusterMembers, ClusterSource } from '../overlay/mod.ts';
import type { Queries, Store } from '../store/mod.ts';

/** A row of the roll, as far as it matters here. */
export interface Member {
  readonly id: string;
  /** Null: of a version that does not tell, or not known yet. */
  readonly ctrlAddress: string | null;
  readonly startedAtMs: number;
}

const REMEMBERED_MS = 86_400_000;
const MAX_REMEMBERED = 16;

export class ClusterMemberList implements ClusterSource {
  readonly #store: Store;
  readonly #clock: Clock;
  /** Address to when it is forgotten. */
  readonly #dead = new Map<string, number>();
  readonly #listeners: (() => void)[] = [];
  #members: ClusterMembers | undefined;
  #told = '';

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
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
    this.#dead.set(address, this.#clock.nowMs() + REMEMBERED_MS);
    if (this.#dead.size > MAX_REMEMBERED) this.#dead.delete(this.#dead.keys().next().value!);
  }

  /** Looks at the rows, and once more under a new index where they changed. Errors: those of the store. */
  async refresh(ownId: string, rows: readonly Member[]): Promise<void> {
    if (this.#keyOf(ownId, rows) === this.#told) return;
    const { db } = this.#store;
    // First the index, then the rows: whoever has a higher index has seen at least as much.
    const index = await nextIndex(db);
    const now = await readMembers(db);
    const key = this.#keyOf(ownId, now);
    if (key === this.#told) return;
    this.#told = key;
    const addresses = this.#addressesOf(now);
    this.#members =
      addresses === undefined ? undefined : { addresses, index, isLeader: leaderOf(now) === ownId };
    for (const listener of this.#listeners) listener();
  }

  /** Undefined while one of them is not known: routers would give it up. */
  #addressesOf(rows: readonly Member[]): string[] | undefined {
    const addresses = new Set<string>();
    for (const { ctrlAddress } of rows) {
      if (ctrlAddress === null) return undefined;
      addresses.add(ctrlAddress);
    }
    const nowMs = this.#clock.nowMs();
    for (const [address, untilMs] of this.#dead) {
      if (untilMs > nowMs && rows.length > 0) addresses.add(address);
      else this.#dead.delete(address);
    }
    return [...addresses].sort();
  }

  #keyOf(ownId: string, rows: readonly Member[]): string {
    return JSON.stringify([this.#addressesOf(rows) ?? null, leaderOf(rows) === ownId]);
  }
}

export async function readMembers(db: Queries): Promise<Member[]> {
  const rows = await db.selectFrom('replica').select(['id', 'ctrl_address', 'started_at']).execute();
  return rows.map((row) => ({ id: row.id, ctrlAddress: row.ctrl_address, startedAtMs: row.started_at }));
}

/** The oldest; alike at every control plane, whatever its clock says, for all read the same rows. */
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
