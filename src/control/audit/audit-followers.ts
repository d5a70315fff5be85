/** Streams of audit events as they happen (server-sent events), each read from the store at its reader's own pace. */
import type { Readable } from 'node:stream';
import type { Log } from '#base';
import { EventFollowers, type EventSource, type FollowedStream } from '../event-stream/mod.ts';
import type { Store } from '../store/mod.ts';
import { auditAfter, lastSequence, type AuditFilter } from './audit-reading.ts';
import type { AuditRow } from './audit-store.ts';

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

export interface FollowRequest extends Pick<FollowedStream, 'reader' | 'isAllowed'> {
  readonly organizationId: string;
  readonly filter: AuditFilter;
  /** The last event that the reader has; undefined: only new events. */
  readonly afterSequence: number | undefined;
}

const MAX_PER_READER = 10;
const CHUNK = 100;

export class AuditFollowers {
  readonly #options: AuditFollowersOptions;
  readonly #followers: EventFollowers;

  constructor(options: AuditFollowersOptions) {
    this.#options = options;
    this.#followers = new EventFollowers({
      ...options,
      subject: 'audit events',
      maxPerReader: MAX_PER_READER,
    });
    options.store.onChange((changes) => {
      for (const { entity, id } of changes) {
        if (entity === 'audit') this.#followers.notify(id);
        else if (entity === 'everything') this.#followers.notifyAll();
      }
    });
  }

  /** Returns undefined if the reader, or all readers together, have too many streams. */
  follow(request: FollowRequest): Readable | undefined {
    const { organizationId, reader, isAllowed } = request;
    return this.#followers.follow({
      topics: [organizationId],
      organizationId,
      reader,
      isAllowed,
      source: this.#sourceOf(request),
    });
  }

  get size(): number {
    return this.#followers.size;
  }

  /** Ends every stream at once. */
  close(): void {
    this.#followers.close();
  }

  #sourceOf({ organizationId, filter, afterSequence }: FollowRequest): EventSource {
    const { db } = this.#options.store;
    let last = 0;
    return {
      async begin() {
        const end = await lastSequence(db, organizationId);
        // A sequence number from the future belongs to a trail that no longer exists, because the database was
        // restored to an older state.
        last = Math.min(afterSequence ?? end, end);
        return 'retry: 2000\n\n';
      },
      next: async () => {
        const span = await auditAfter(db, organizationId, filter, last, CHUNK);
        const isAtEnd = span.lastSequence === last;
        last = span.lastSequence;
        return { text: span.rows.map((row) => this.#event(row)).join(''), isAtEnd };
      },
      heartbeat: () => ':\n\n',
    };
  }

  #event(row: AuditRow): string {
    return `id: ${row.sequence}\nevent: audit\ndata: ${this.#options.jsonOf(row)}\n\n`;
  }
}
