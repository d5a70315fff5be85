/**
 * Streams of audit events as they happen (server-sent events). Each is read from the store at its reader's own
 * pace and holds one chunk, never a queue. A stream ends with its reader's credential, or when its reader stalls.
 */
import { Readable } from 'node:stream';
import { messageOf, type Log } from '#base';
import { concerns, type Change, type Store } from '../store/mod.ts';
import { auditAfter, lastSequence, type AuditFilter } from './audit-reading.ts';
import type { AuditRow } from './audit-store.ts';
import { Wake } from './wake.ts';

export interface AuditFollowersOptions {
  readonly store: Store;
  readonly log: Log;
  /** Serializes one event. */
  readonly jsonOf: (row: AuditRow) => string;
  readonly heartbeatMs?: number;
  /** Interval for checking a credential again, if no change is reported. */
  readonly recheckMs?: number;
  /** A reader that reads nothing for this time is disconnected. */
  readonly maxStalledMs?: number;
}

export interface FollowRequest {
  readonly organizationId: string;
  readonly filter: AuditFilter;
  /** The last event that the reader has; undefined: only new events. */
  readonly afterSequence: number | undefined;
  /** The owner of the stream, for limits. */
  readonly reader: string;
  /** Whether the reader's credential is still accepted. */
  readonly isAllowed: () => Promise<boolean>;
}

interface Follower {
  readonly request: FollowRequest;
  readonly wake: Wake;
  stream: Readable | undefined;
  isEnded: boolean;
  mustRecheck: boolean;
  /** When the reader was given a chunk that it has not consumed yet. */
  offeredAtMs: number | undefined;
}

const MAX_PER_READER = 10;
const MAX_STREAMS = 1_000;
const CHUNK = 100;
const HIGH_WATER_BYTES = 65_536;
const STALL_CHECK_MS = 1_000;

export class AuditFollowers {
  readonly #options: Required<AuditFollowersOptions>;
  readonly #followers = new Set<Follower>();
  readonly #stallTimer: NodeJS.Timeout;
  #isClosed = false;

  constructor(options: AuditFollowersOptions) {
    this.#options = { heartbeatMs: 15_000, recheckMs: 10_000, maxStalledMs: 30_000, ...options };
    options.store.onChange((changes) => this.#hear(changes));
    this.#stallTimer = setInterval(() => this.#cutStalled(), STALL_CHECK_MS);
    this.#stallTimer.unref();
  }

  /** Returns undefined if the reader, or all readers together, have too many streams. */
  follow(request: FollowRequest): Readable | undefined {
    const own = [...this.#followers].filter((other) => other.request.reader === request.reader);
    if (own.length >= MAX_PER_READER || this.#followers.size >= MAX_STREAMS || this.#isClosed)
      return undefined;
    const follower: Follower = {
      request,
      wake: new Wake(),
      stream: undefined,
      isEnded: false,
      mustRecheck: false,
      offeredAtMs: undefined,
    };
    this.#followers.add(follower);
    const lines = this.#lines(follower);
    // `Readable.from` would end only after the data that it waits for.
    follower.stream = new Readable({
      highWaterMark: HIGH_WATER_BYTES,
      read() {
        void lines.next().then(({ value, done }) => this.push(done === true ? null : value));
      },
      destroy: (error, done) => {
        follower.isEnded = true;
        this.#followers.delete(follower);
        follower.wake.call();
        done(error);
      },
    });
    return follower.stream;
  }

  get size(): number {
    return this.#followers.size;
  }

  /** Ends every stream at once. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#stallTimer);
    for (const { stream } of this.#followers) stream?.destroy();
  }

  /** Text of the stream, in chunks that the reader requests one after the other. */
  async *#lines(follower: Follower): AsyncGenerator<string> {
    const { store, log } = this.#options;
    const { organizationId, filter, afterSequence } = follower.request;
    try {
      const end = await lastSequence(store.db, organizationId);
      // A sequence number from the future belongs to a trail that no longer exists, because the database was
      // restored to an older state.
      let last = Math.min(afterSequence ?? end, end);
      yield* this.#offered(follower, 'retry: 2000\n\n');
      let recheckAtMs = performance.now() + this.#options.recheckMs;
      let heartbeatAtMs = performance.now() + this.#options.heartbeatMs;
      while (!follower.isEnded) {
        const span = await auditAfter(store.db, organizationId, filter, last, CHUNK);
        // Checked after the read, so that events after a revocation are never sent to the revoked reader.
        if (span.rows.length > 0 || follower.mustRecheck || performance.now() >= recheckAtMs) {
          follower.mustRecheck = false;
          if (!(await follower.request.isAllowed())) return;
          recheckAtMs = performance.now() + this.#options.recheckMs;
        }
        const isAtEnd = span.lastSequence === last;
        last = span.lastSequence;
        if (span.rows.length > 0) {
          yield* this.#offered(follower, span.rows.map((row) => this.#event(row)).join(''));
          heartbeatAtMs = performance.now() + this.#options.heartbeatMs;
        } else if (performance.now() >= heartbeatAtMs) {
          yield* this.#offered(follower, ':\n\n');
          heartbeatAtMs = performance.now() + this.#options.heartbeatMs;
        }
        if (isAtEnd) await follower.wake.wait(Math.min(recheckAtMs, heartbeatAtMs) - performance.now());
      }
    } catch (error) {
      // The reader reconnects and resumes.
      log.warn({ cause: messageOf(error) }, 'a stream of audit events ended early');
    }
  }

  *#offered(follower: Follower, text: string): Generator<string> {
    follower.offeredAtMs = performance.now();
    yield text;
    follower.offeredAtMs = undefined;
  }

  #event(row: AuditRow): string {
    return `id: ${row.sequence}\nevent: audit\ndata: ${this.#options.jsonOf(row)}\n\n`;
  }

  #hear(changes: readonly Change[]): void {
    const mustRecheck = concerns(changes, 'caller', 'organization');
    for (const follower of this.#followers) {
      const { organizationId } = follower.request;
      if (mustRecheck) follower.mustRecheck = true;
      else if (!changes.some(({ entity, id }) => entity === 'audit' && id === organizationId)) continue;
      follower.wake.call();
    }
  }

  #cutStalled(): void {
    const { maxStalledMs, log } = this.#options;
    for (const { stream, offeredAtMs, request } of this.#followers) {
      if (offeredAtMs === undefined || performance.now() - offeredAtMs < maxStalledMs) continue;
      log.warn({ reader: request.reader }, 'closed a stream of audit events: its reader is too slow');
      stream?.destroy();
    }
  }
}
