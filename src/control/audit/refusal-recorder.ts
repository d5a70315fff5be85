/**
 * Records refused calls in the audit trail. Recording does not wait and cannot fail: refusals are collected,
 * equal ones within ten seconds are combined, and they are written up to half a second later, in limited numbers.
 * Refusals beyond the limits are counted, and the count is recorded.
 */
import { addressKey, messageOf, type Clock, type Log } from '#base';
import type { Secrets } from '../secrets/mod.ts';
import type { Store } from '../store/mod.ts';
import type { Actor, AuditEntry, AuditTarget } from './audit-entry.ts';
import { appendAudit } from './audit-store.ts';
import { organizationOf, THE_SYSTEM } from './machine-audit.ts';

export interface RecordedRefusal {
  /** For an authenticated caller: its organization, or the frontdoor of a machine. */
  readonly owner: { readonly organizationId: string } | { readonly ownerId: string | null };
  readonly actor: Actor;
  readonly action: string;
  /** Target of the first one, if equal ones are combined. */
  readonly target?: AuditTarget | undefined;
  /** Null if not known, as for a peer of a router. */
  readonly address: string | null;
  /** Code of the refusal. */
  readonly reason: string;
}

export interface RefusalRecorderOptions {
  readonly store: Store;
  readonly secrets: Pick<Secrets, 'tag'>;
  readonly clock: Clock;
  readonly log: Log;
  /** A monotonic clock in milliseconds. */
  readonly steadyMs?: () => number;
}

interface Pending {
  readonly refusal: RecordedRefusal;
  firstAtMs: number;
  /** Number of refusals that are not written yet. */
  occurrences: number;
  /** When they must be written, on the monotonic clock. */
  dueAtMs: number;
}

interface DueRefusal {
  readonly pending: Pending | undefined;
  readonly occurrences: number;
  readonly atMs: number;
  readonly entry: Omit<AuditEntry, 'organizationId'>;
  readonly owner: RecordedRefusal['owner'];
}

const FLUSH_MS = 500;
const PAUSE_AFTER_FAILURE_MS = 5_000;
const WINDOW_MS = 10_000;
const MAX_PENDING = 1_000;
const MAX_EVENTS_PER_FLUSH = 100;
/** No caller was authenticated. */
export const UNPROVEN: Pick<RecordedRefusal, 'owner' | 'actor'> = {
  owner: { organizationId: '' },
  actor: { kind: 'anonymous', id: null },
};

export class RefusalRecorder {
  readonly #options: RefusalRecorderOptions;
  readonly #steadyMs: () => number;
  readonly #pending = new Map<string, Pending>();
  #overflown = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<boolean> = Promise.resolve(true);
  #isClosed = false;

  constructor(options: RefusalRecorderOptions) {
    this.#options = options;
    this.#steadyMs = options.steadyMs ?? (() => performance.now());
  }

  /** `occurrences` is the number of equal refusals. */
  record(refusal: RecordedRefusal, occurrences = 1): void {
    if (this.#isClosed) return;
    const key = keyOf(refusal);
    const known = this.#pending.get(key);
    const firstAtMs = this.#options.clock.nowMs();
    if (known !== undefined) {
      if (known.occurrences === 0) known.firstAtMs = firstAtMs;
      known.occurrences += occurrences;
    } else if (this.#pending.size >= MAX_PENDING) {
      this.#overflown += occurrences;
    } else {
      this.#pending.set(key, { refusal, firstAtMs, occurrences, dueAtMs: this.#steadyMs() });
    }
    this.#flushLater(FLUSH_MS);
  }

  /** Writes due refusals, after a running write. Resolves to false if they could not be written and are kept. */
  flush(): Promise<boolean> {
    const dueBefore = this.#isClosed ? Infinity : this.#steadyMs();
    this.#flushing = this.#flushing.then(() => this.#write(this.#take(dueBefore)));
    return this.#flushing;
  }

  /** Writes all remaining refusals. Nothing is recorded afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    while (this.#unwritten() > 0 && (await this.flush()));
    const lost = this.#unwritten();
    if (lost > 0) this.#options.log.warn({ lost }, 'refusals could not be recorded before the shutdown');
  }

  #unwritten(): number {
    return [...this.#pending.values()].reduce((sum, { occurrences }) => sum + occurrences, this.#overflown);
  }

  #flushLater(ms: number): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.flush(), ms);
    this.#timer.unref();
  }

  #take(dueBefore: number): DueRefusal[] {
    const due: DueRefusal[] = [];
    for (const [key, pending] of this.#pending) {
      if (pending.dueAtMs > dueBefore) continue;
      if (due.length === MAX_EVENTS_PER_FLUSH) break;
      const { refusal, occurrences, firstAtMs: atMs } = pending;
      if (occurrences === 0) {
        this.#pending.delete(key);
        continue;
      }
      const { owner, ...rest } = refusal;
      due.push({ pending, occurrences, atMs, owner, entry: { ...rest, occurrences, result: 'refused' } });
      pending.occurrences = 0;
      pending.dueAtMs = this.#steadyMs() + WINDOW_MS;
    }
    if (this.#overflown > 0) due.push(this.#takeOverflown());
    return due;
  }

  #takeOverflown(): DueRefusal {
    const occurrences = this.#overflown;
    this.#overflown = 0;
    return {
      pending: undefined,
      occurrences,
      atMs: this.#options.clock.nowMs(),
      owner: UNPROVEN.owner,
      entry: {
        actor: THE_SYSTEM,
        action: 'recordRefusals',
        address: null,
        result: 'refused',
        reason: 'overflow',
        occurrences,
      },
    };
  }

  async #write(due: readonly DueRefusal[]): Promise<boolean> {
    this.#timer = undefined;
    let isWritten = true;
    try {
      if (due.length > 0) await this.#append(due);
    } catch (error) {
      this.#putBack(due);
      isWritten = false;
      this.#options.log.warn({ cause: messageOf(error) }, 'refusals could not be recorded; retrying soon');
    }
    if (this.#pending.size > 0) this.#flushLater(isWritten ? FLUSH_MS : PAUSE_AFTER_FAILURE_MS);
    return isWritten;
  }

  async #append(due: readonly DueRefusal[]): Promise<void> {
    const { store, secrets } = this.#options;
    await store.transaction(async (trx, touch) => {
      const owned = [];
      for (const each of due) {
        const { owner } = each;
        const organizationId =
          'organizationId' in owner ? owner.organizationId : await organizationOf(trx, owner.ownerId);
        owned.push({ ...each, organizationId });
      }
      // All writers lock chains in the same order, which prevents deadlocks.
      owned.sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
      for (const { entry, organizationId, atMs } of owned) {
        await appendAudit(trx, touch, secrets, { ...entry, organizationId }, atMs);
      }
    });
  }

  #putBack(due: readonly DueRefusal[]): void {
    for (const { pending, occurrences, atMs } of due) {
      if (pending === undefined) {
        this.#overflown += occurrences;
        continue;
      }
      pending.occurrences += occurrences;
      pending.firstAtMs = atMs;
      pending.dueAtMs = this.#steadyMs();
    }
  }
}

function keyOf({ owner, actor, action, address, reason }: RecordedRefusal): string {
  const source = address === null ? null : addressKey(address);
  return JSON.stringify([owner, actor.kind, actor.id, action, source, reason]);
}
