/**
 * Keeps the share table up to date with the control plane: follows the feed, applies what it can read and reports
 * the rest, reconnects with increasing pauses, and keeps the last good list on disk, so that a gateway that
 * starts while the control plane is away serves the same shares (`kept-share-list.ts`). The wiring provides the stream.
 */
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';
import { BackOff, messageOf, type Log } from '#base';
import {
  NO_GATEWAY_KEYS,
  type GatewayFeedEvent,
  type GatewayReplay,
  type GatewaySnapshot,
  type ServedShare,
} from '#domain/gateway-shapes';
import type { AccessFeed } from './access-feed.ts';
import type { FeedProblem } from './closed-share.ts';
import { KeptShareList } from './kept-share-list.ts';
import { parseFeedEvent, type FeedPosition } from './share-feed-codec.ts';
import type { ShareRouteTable } from './share-routes.ts';

/** One subscription: lines of JSON until `onEnd`, which is never called after `close`. */
export interface ShareFeedSubscription {
  readonly since?: FeedPosition | undefined;
  readonly onLine: (line: string) => void;
  readonly onEnd: (error: Error) => void;
}

export interface ShareFeedOptions {
  readonly table: Pick<ShareRouteTable<unknown>, 'replacement' | 'change' | 'shares'>;
  /** Gets each event after the table applied it. */
  readonly access: AccessFeed;
  readonly onReplay: (replay: GatewayReplay) => void;
  readonly subscribe: (subscription: ShareFeedSubscription) => { close(): void };
  /** File for the last good list. */
  readonly snapshotFile: string;
  readonly log: Log;
  /** Pause between subscriptions while the control plane is away. */
  readonly backOff?: { readonly minMs: number; readonly maxMs: number };
  /** Pause before the next subscription after an event that was refused. */
  readonly refusalBackOff?: { readonly minMs: number; readonly maxMs: number };
  /** Monotonic. */
  readonly monotonicMs?: () => number;
  /** Delay after the first change, within which further changes are written to disk together. */
  readonly saveDelayMs?: number;
}

export interface ShareFeed {
  /** Resolves when a list has arrived from the control plane itself. */
  readonly fresh: Promise<void>;
  /** Time of the last event of any kind in Unix milliseconds; 0 before the first one. */
  readonly lastContactMs: number;
  /** Ends the stream and writes pending changes. */
  close(): Promise<void>;
}

/** Slows down the case in which each new list is good, but the event after it is refused. */
const REFUSAL_BACK_OFF = { minMs: 500, maxMs: 20_000 };
/** After this time without a refusal, the next one starts with a short pause again. */
const QUIET_MS = 300_000;
/** Bound of the memory that an unfinished list takes. */
const MAX_STAGED_SHARES = 2_000_000;
/** Bound of the lines that wait until a list is applied, in characters. */
const MAX_WAITING_CHARS = 64 * 1024 * 1024;
/** Limit for one event, which may have a problem for each share. */
const MAX_LOGGED_PROBLEMS = 20;

interface WaitingLines {
  readonly lines: string[];
  chars: number;
}

/** Loads the kept list from disk, then follows the feed. */
export async function openShareFeed(options: ShareFeedOptions): Promise<ShareFeed> {
  const client = new FeedClient(options);
  await client.load();
  client.connect();
  return client;
}

class FeedClient implements ShareFeed {
  readonly fresh: Promise<void>;
  lastContactMs = 0;
  readonly #options: ShareFeedOptions;
  readonly #backOff: BackOff;
  readonly #refusals: BackOff;
  readonly #monotonicMs: () => number;
  readonly #becameFresh: () => void;
  readonly #list: KeptShareList;
  #position: FeedPosition | undefined;
  /** The snapshot whose parts arrive at present, without its shares. It is applied when it is complete. */
  #staged: { readonly snapshot: GatewaySnapshot; readonly shares: ServedShare[] } | undefined;
  /** The lines that came while a long list is applied, or undefined while none is. */
  #waiting: WaitingLines | undefined;
  /** Settles when the list that is applied at present is complete. */
  #applied: Promise<void> = Promise.resolve();
  #stream: { close(): void } | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;
  #refusedMs = Number.NEGATIVE_INFINITY;
  /** Number of the current subscription. */
  #attempt = 0;

  constructor(options: ShareFeedOptions) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.fresh = promise;
    this.#becameFresh = resolve;
    this.#options = options;
    this.#backOff = new BackOff({ minMs: 200, maxMs: 5_000, factor: 2, ...options.backOff });
    this.#refusals = new BackOff({ ...REFUSAL_BACK_OFF, factor: 2, ...options.refusalBackOff });
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
    const { snapshotFile: file, log, table, access, saveDelayMs: delayMs } = options;
    this.#list = new KeptShareList({
      file,
      log,
      delayMs,
      current: () =>
        this.#position && { position: this.#position, shares: table.shares(), access: access.kept() },
    });
  }

  async load(): Promise<void> {
    const { table, access, log } = this.#options;
    const read = await this.#list.load();
    if (read === undefined) return;
    const { kept, problems } = read;
    const contested = await inTurns(table.replacement(kept.shares), () => this.#closed);
    this.#report([...problems, ...(contested ?? [])]);
    // The kept file has no secrets; the next whole list brings them.
    access.replaceAll({ ...kept, keys: NO_GATEWAY_KEYS });
    log.info({ shares: kept.shares.length }, 'share list loaded from disk');
  }

  connect(): void {
    if (this.#closed) return;
    this.#attempt += 1;
    this.#staged = undefined;
    const attempt = this.#attempt;
    const stream = this.#options.subscribe({
      since: this.#position,
      onLine: (line) => {
        if (this.#attempt === attempt) this.#onLine(line);
      },
      onEnd: (error) => {
        if (this.#attempt === attempt) this.#onEnd(error);
      },
    });
    if (this.#attempt === attempt) this.#stream = stream;
    else stream.close();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#stream?.close();
    this.#stream = undefined;
    this.#list.close();
    await this.#applied;
    await this.#list.written;
  }

  #onLine(line: string): void {
    if (this.#closed) return;
    if (this.#waiting !== undefined) {
      this.#wait(this.#waiting, line);
      return;
    }
    const read = parseFeedEvent(line);
    if (typeof read === 'string') {
      this.#refuse(read);
      return;
    }
    this.lastContactMs = Date.now();
    this.#report(read.problems);
    if (read.event === undefined) return;
    let problem: string | undefined;
    try {
      problem = this.#take(read.event);
    } catch (error) {
      problem = `an event of the feed could not be applied: ${messageOf(error)}`;
    }
    if (problem !== undefined) this.#refuse(problem);
  }

  #wait(waiting: WaitingLines, line: string): void {
    this.lastContactMs = Date.now();
    waiting.chars += line.length;
    if (waiting.chars <= MAX_WAITING_CHARS) waiting.lines.push(line);
    else {
      this.#stream?.close();
      this.#onEnd(new Error('too many changes arrived while a list was applied'));
    }
  }

  /** Returns why the event is refused, or undefined if it is applied. */
  #take(event: GatewayFeedEvent): string | undefined {
    const { table, access, onReplay } = this.#options;
    const at = this.#position;
    if (event.type === 'replay') onReplay(event);
    else if (event.type === 'snapshot') {
      if (event.isContinued === true) this.#staged = { snapshot: event, shares: [...event.shares] };
      else this.#takeAll(event, event.shares);
    } else if (event.type === 'shares') {
      const staged = this.#staged;
      if (staged === undefined) return 'a part of a list came without its begin';
      for (const share of event.shares) staged.shares.push(share);
      if (staged.shares.length > MAX_STAGED_SHARES) return `a list has more than ${MAX_STAGED_SHARES} shares`;
      if (!event.isContinued) this.#takeAll(staged.snapshot, staged.shares);
    } else if (event.type === 'delta') {
      if (at === undefined || event.version !== at.version + 1)
        return `version ${event.version} is not the next one`;
      this.#report(table.change(event.set, event.removed));
      access.change(event);
      this.#taken({ version: event.version, epoch: at.epoch });
    } else if (at !== undefined) {
      // A stream that resumes without news sends a heartbeat first.
      this.#backOff.reset();
      this.#becameFresh();
      access.onContact();
    }
    return undefined;
  }

  /** Applies a short list at once, and a long one in several turns of the loop. */
  #takeAll(snapshot: GatewaySnapshot, shares: readonly ServedShare[]): void {
    this.#staged = undefined;
    const steps = this.#options.table.replacement(shares);
    const first = steps.next();
    if (first.done === true) {
      this.#takeRest(snapshot, first.value);
      return;
    }
    this.#waiting = { lines: [], chars: 0 };
    this.#applied = inTurns(steps, () => this.#closed).then(
      (problems) => {
        if (problems !== undefined) this.#takeRest(snapshot, problems);
        this.#takeWaiting();
      },
      (error: unknown) => {
        this.#waiting = undefined;
        this.#refuse(`a list of the feed could not be applied: ${messageOf(error)}`);
      },
    );
  }

  /** Applies what a list has besides its shares. */
  #takeRest(snapshot: GatewaySnapshot, problems: readonly FeedProblem[]): void {
    this.#report(problems);
    this.#options.access.replaceAll(snapshot);
    this.#taken({ version: snapshot.version, epoch: snapshot.epoch });
  }

  #takeWaiting(): void {
    const lines = this.#waiting?.lines ?? [];
    this.#waiting = undefined;
    const attempt = this.#attempt;
    for (const line of lines) {
      // A refusal makes the lines after it void.
      if (this.#attempt !== attempt) return;
      this.#onLine(line);
    }
  }

  /** Logs one line for each entry that could not be read. */
  #report(problems: readonly FeedProblem[]): void {
    const { log } = this.#options;
    for (const { kind, id, token, field } of problems.slice(0, MAX_LOGGED_PROBLEMS)) {
      const entry = { hop: 'control', id, share: token, field } as const;
      log.error(entry, SENTENCES[kind]);
    }
    const more = problems.length - MAX_LOGGED_PROBLEMS;
    if (more > 0) log.error({ hop: 'control', more }, 'further entries of the feed could not be read');
  }

  #taken(position: FeedPosition): void {
    this.#position = position;
    this.#options.access.onContact();
    this.#backOff.reset();
    this.#becameFresh();
    this.#list.save();
  }

  /** Keeps the last good list, and requests a whole new one. */
  #refuse(cause: string): void {
    this.#options.log.error({ hop: 'control', cause }, 'share feed refused; keeping the last good list');
    this.#position = undefined;
    this.#stream?.close();
    const nowMs = this.#monotonicMs();
    if (nowMs - this.#refusedMs > QUIET_MS) this.#refusals.reset();
    this.#refusedMs = nowMs;
    this.#again(this.#refusals.next());
  }

  #onEnd(error: Error): void {
    if (this.#closed) return;
    this.#options.log.warn(
      { hop: 'control', cause: messageOf(error) },
      'share feed interrupted; keeping the last good list',
    );
    this.#again();
  }

  #again(pauseMs = this.#backOff.next()): void {
    this.#stream = undefined;
    // Further events of the old stream are ignored.
    this.#attempt += 1;
    clearTimeout(this.#retry);
    if (this.#closed) return;
    this.#retry = setTimeout(() => void this.#applied.then(() => this.connect()), pauseMs);
  }
}

const SENTENCES: Readonly<Record<FeedProblem['kind'], string>> = {
  share: 'a share cannot be read: it is closed if its names are known, and the others are applied',
  provider: 'an auth provider cannot be read: it admits nobody',
  key: 'a key of the installation cannot be read: requests that depend on it are refused',
  zone: 'a zone cannot be read: nobody can log in below it',
  replay: 'a replay cannot be read and is not sent',
  event: 'the control plane sent a command that this gateway does not know',
};

/** Takes one step in each turn of the loop. Returns undefined if `isOver` stopped it. */
async function inTurns<T>(steps: Iterator<undefined, T>, isOver: () => boolean): Promise<T | undefined> {
  while (!isOver()) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
  return undefined;
}
