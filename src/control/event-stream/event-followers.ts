/**
 * Streams of server-sent events. Each is read from its source at its reader's own pace and holds one chunk, never a
 * queue. A stream ends with its reader's credential, or when its reader stalls.
 */
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf, type Log } from '#base';
import { concerns, resourceChangeOf, type Change, type Store } from '../store/mod.ts';
import { StreamTurns } from './turns.ts';
import { Wake } from './wake.ts';

export interface EventFollowersOptions {
  readonly store: Pick<Store, 'onChange'>;
  readonly log: Log;
  /** Names the events in log lines, such as `audit events`. */
  readonly subject: string;
  readonly maxPerReader: number;
  /** Limits the streams of all readers together; 1,000 by default. */
  readonly maxStreams?: number | undefined;
  /**
   * Events come with the store's notifications, so that a revocation is known before the events after it: not every event
   * needs a check of its reader. It is a query, and garbage of 12 KiB.
   */
  readonly isInOrder?: boolean | undefined;
  /** Delay after the events that a stream has caught up with, so that its source combines those that come in the meantime. */
  readonly combineMs?: number | undefined;
  readonly heartbeatMs?: number | undefined;
  /** Interval for checking a credential again, if no change is reported. */
  readonly recheckMs?: number | undefined;
  /** A reader that reads nothing for this time is disconnected. */
  readonly maxStalledMs?: number | undefined;
}

/** The position of one reader among the events. */
export interface EventSource {
  /** Returns the text at the beginning of the stream. */
  begin(): Promise<string> | string;
  /** Returns the next events. */
  next(): Promise<EventSpan> | EventSpan;
  /** Returns the text that a quiet stream sends from time to time. */
  heartbeat(): string;
}

export interface EventSpan {
  /** '' if there are no events. */
  readonly text: string;
  /** Whether there are no more events for now. */
  readonly isAtEnd: boolean;
}

export interface FollowedStream {
  /** `notify` with one of them wakes the stream. */
  readonly topics: readonly string[];
  readonly source: EventSource;
  /** The owner of the stream and its organization, for limits. */
  readonly reader: string;
  readonly organizationId: string;
  /** Whether the reader's credential is still accepted. */
  readonly isAllowed: () => Promise<boolean>;
}

interface Follower {
  readonly followed: FollowedStream;
  readonly wake: Wake;
  stream: Readable | undefined;
  isEnded: boolean;
  mustRecheck: boolean;
  /** When the reader was given a chunk that it has not consumed yet. */
  offeredAtMs: number | undefined;
}

const MAX_STREAMS = 1_000;
/** A stream takes some 30 µs for an event: with the writes of ten, a turn is still shorter than most requests. */
const STREAMS_PER_TURN = 10;
const HIGH_WATER_BYTES = 65_536;
const STALL_CHECK_MS = 1_000;
const HEARTBEAT_MS = 15_000;
const RECHECK_MS = 4_000;
const MAX_STALLED_MS = 30_000;

/** A session at the console depends on resources of these kinds. */
const PEOPLE_KINDS: ReadonlySet<string> = new Set(['person', 'console-session', 'console-log-in']);

export class EventFollowers {
  readonly #options: EventFollowersOptions;
  readonly #heartbeatMs: number;
  readonly #recheckMs: number;
  readonly #followers = new Set<Follower>();
  readonly #turns = new StreamTurns(STREAMS_PER_TURN);
  readonly #stallTimer: NodeJS.Timeout;
  #isClosed = false;

  constructor(options: EventFollowersOptions) {
    this.#options = options;
    this.#heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
    this.#recheckMs = options.recheckMs ?? RECHECK_MS;
    options.store.onChange((changes) => {
      const isOfCallers = concerns(changes, 'caller', 'organization', 'frontdoor');
      if (isOfCallers || changes.some(isOfPeople)) this.#recheckAll();
    });
    this.#stallTimer = setInterval(() => this.#cutStalled(), STALL_CHECK_MS);
    this.#stallTimer.unref();
  }

  /** Returns undefined if the reader, or all readers together, have too many streams. */
  follow(followed: FollowedStream): Readable | undefined {
    const own = [...this.#followers].filter((other) => other.followed.reader === followed.reader);
    if (this.#isClosed || own.length >= this.#options.maxPerReader) return undefined;
    const { maxStreams = MAX_STREAMS } = this.#options;
    if (this.#followers.size >= maxStreams && !this.#makeRoom(followed.organizationId)) return undefined;
    const follower: Follower = {
      followed,
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

  /** Streams with this topic have new events. */
  notify(topic: string): void {
    for (const { followed, wake } of this.#followers) if (followed.topics.includes(topic)) wake.call();
  }

  /** All streams may have new events. */
  notifyAll(): void {
    for (const { wake } of this.#followers) wake.call();
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
    const { source, isAllowed } = follower.followed;
    try {
      yield* this.#offered(follower, await source.begin());
      let recheckAtMs = performance.now() + this.#recheckMs;
      let heartbeatAtMs = performance.now() + this.#heartbeatMs;
      while (!follower.isEnded) {
        await this.#turns.next();
        const { text, isAtEnd } = await source.next();
        // Checked after the read, so that events after a revocation are never sent to the revoked reader.
        const isUnchecked = text !== '' && this.#options.isInOrder !== true;
        if (isUnchecked || follower.mustRecheck || performance.now() >= recheckAtMs) {
          follower.mustRecheck = false;
          if (!(await isAllowed())) return;
          recheckAtMs = performance.now() + this.#recheckMs;
        }
        if (text !== '') {
          yield* this.#offered(follower, text);
          heartbeatAtMs = performance.now() + this.#heartbeatMs;
          const { combineMs = 0 } = this.#options;
          if (isAtEnd && combineMs > 0) await pause(combineMs, undefined, { ref: false });
        } else if (performance.now() >= heartbeatAtMs) {
          yield* this.#offered(follower, source.heartbeat());
          heartbeatAtMs = performance.now() + this.#heartbeatMs;
        }
        if (isAtEnd) await follower.wake.wait(Math.min(recheckAtMs, heartbeatAtMs) - performance.now());
      }
    } catch (error) {
      // The reader reconnects and resumes.
      const { log, subject } = this.#options;
      log.warn({ cause: messageOf(error) }, `a stream of ${subject} ended early`);
    }
  }

  *#offered(follower: Follower, text: string): Generator<string> {
    follower.offeredAtMs = performance.now();
    yield text;
    follower.offeredAtMs = undefined;
  }

  /** Ends the latest stream of the organization with the most, unless the one that wants another would have as many. */
  #makeRoom(organizationId: string): boolean {
    const byOrganization = Map.groupBy(this.#followers, ({ followed }) => followed.organizationId);
    const largest = [...byOrganization.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
    if (largest.length <= (byOrganization.get(organizationId)?.length ?? 0) + 1) return false;
    const { followed, stream } = largest.at(-1)!;
    const { log, subject } = this.#options;
    log.warn(
      { reader: followed.reader },
      `ended a stream of ${subject}: its organization has the most of too many`,
    );
    stream?.destroy();
    return true;
  }

  #recheckAll(): void {
    for (const follower of this.#followers) {
      follower.mustRecheck = true;
      follower.wake.call();
    }
  }

  #cutStalled(): void {
    const { log, subject, maxStalledMs = MAX_STALLED_MS } = this.#options;
    for (const { stream, offeredAtMs, followed } of this.#followers) {
      if (offeredAtMs === undefined || performance.now() - offeredAtMs < maxStalledMs) continue;
      log.warn({ reader: followed.reader }, `closed a stream of ${subject}: its reader is too slow`);
      stream?.destroy();
    }
  }
}

function isOfPeople(change: Change): boolean {
  const kind = resourceChangeOf(change)?.kind;
  return kind !== undefined && PEOPLE_KINDS.has(kind);
}
