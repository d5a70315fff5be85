/**
 * Keeps the share table as the control plane publishes it: follows the feed, takes events whole or not at all, comes
 * back after an end with growing pauses, and keeps the last good list on disk, so that a gateway that starts while
 * the control plane is away serves what it served before. The stream itself is made by whoever wires this.
 */
import { readFile } from 'node:fs/promises';
import { BackOff, messageOf, type Log } from '#base';
import type { GatewayKeys, GatewayReplay, GatewayShare } from '#domain';
import { writeFileDurably } from '#net';
import type { AccessFeed } from '../access/access.ts';
import { parseFeedEvent, parseSnapshotFile, type FeedPosition, type KeptShares } from './share-feed-codec.ts';
import type { ShareTable } from './share-table.ts';

/** One subscription: lines of JSON until `onEnd`, which is never called after `close`. */
export interface ShareFeedSubscription {
  readonly since?: FeedPosition;
  readonly onLine: (line: string) => void;
  readonly onEnd: (error: Error) => void;
}

export interface ShareFeedOptions {
  readonly table: Pick<ShareTable<unknown>, 'replaceAll' | 'change' | 'shares'>;
  /** Learns each event after the table took it. */
  readonly access: AccessFeed;
  readonly onReplay: (replay: GatewayReplay) => void;
  readonly subscribe: (subscription: ShareFeedSubscription) => { close(): void };
  /** Where the last good list is kept. */
  readonly snapshotFile: string;
  readonly log: Log;
  readonly backOff?: { readonly minMs: number; readonly maxMs: number };
  /** Changes are written to disk together, this long after the first. */
  readonly saveDelayMs?: number;
}

export interface ShareFeed {
  /** Resolves when a list has come from the control plane itself. */
  readonly fresh: Promise<void>;
  /** Unix milliseconds of the last event of any kind; 0: none yet. */
  readonly lastContactMs: number;
  /** Ends the stream and writes what has not been written yet. */
  close(): Promise<void>;
}

/** Until the control plane has told them: no key fits, and nothing is signed. */
const NO_KEYS: GatewayKeys = { apiKeyPepper: '', identityKeys: [] };

/** Loads what is on disk, then follows the feed. */
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
  readonly #becameFresh: () => void;
  #position: FeedPosition | undefined;
  #stream: { close(): void } | undefined;
  #retry: NodeJS.Timeout | undefined;
  #save: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  #closed = false;
  /** Which subscription is listened to. */
  #attempt = 0;

  constructor(options: ShareFeedOptions) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.fresh = promise;
    this.#becameFresh = resolve;
    this.#options = options;
    this.#backOff = new BackOff({ minMs: 200, maxMs: 5_000, factor: 2, ...options.backOff });
  }

  async load(): Promise<void> {
    const { snapshotFile, table, access, log } = this.#options;
    let text: string;
    try {
      text = await readFile(snapshotFile, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        log.warn(
          { hop: 'gateway', file: snapshotFile, cause: messageOf(error) },
          'kept share list cannot be read',
        );
      }
      return;
    }
    const kept = parseSnapshotFile(text);
    const problem = typeof kept === 'string' ? kept : table.replaceAll(kept.shares);
    if (typeof kept === 'string' || problem !== undefined) {
      log.warn({ hop: 'gateway', file: snapshotFile, cause: problem }, 'kept share list is not usable');
      return;
    }
    // What is not kept proves who somebody is: a whole list brings it.
    access.replaceAll({ ...kept, keys: NO_KEYS });
    log.info({ shares: kept.shares.length }, 'share list loaded from disk');
  }

  connect(): void {
    if (this.#closed) return;
    this.#attempt += 1;
    const attempt = this.#attempt;
    const stream = this.#options.subscribe({
      ...(this.#position === undefined ? {} : { since: this.#position }),
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
    if (this.#save !== undefined) {
      clearTimeout(this.#save);
      this.#write();
    }
    await this.#saving;
  }

  #onLine(line: string): void {
    if (this.#closed) return;
    const event = parseFeedEvent(line);
    if (typeof event === 'string') {
      this.#refuse(event);
      return;
    }
    const { table, access, onReplay } = this.#options;
    this.lastContactMs = Date.now();
    let problem: string | undefined;
    if (event.type === 'replay') onReplay(event);
    else if (event.type === 'snapshot') {
      problem = table.replaceAll(event.shares);
      if (problem === undefined) {
        access.replaceAll(event);
        this.#taken({ version: event.version, epoch: event.epoch });
      }
    } else if (event.type === 'delta') {
      const at = this.#position;
      if (at === undefined || event.version !== at.version + 1)
        problem = `version ${event.version} is not the next one`;
      else problem = table.change(event.set, event.removed);
      if (problem === undefined && at !== undefined) {
        access.change(event);
        this.#taken({ version: event.version, epoch: at.epoch });
      }
    } else if (this.#position !== undefined) {
      // A stream that resumes with nothing new says so with its first heartbeat.
      this.#backOff.reset();
      this.#becameFresh();
      access.heard();
    }
    if (problem !== undefined) this.#refuse(problem);
  }

  #taken(position: FeedPosition): void {
    this.#position = position;
    this.#options.access.heard();
    this.#backOff.reset();
    this.#becameFresh();
    this.#save ??= setTimeout(() => this.#write(), this.#options.saveDelayMs ?? 500);
  }

  /** Keeps the last good list, and asks for a whole new one. */
  #refuse(cause: string): void {
    this.#options.log.error({ hop: 'control', cause }, 'share feed refused; the last good list stays');
    this.#position = undefined;
    this.#stream?.close();
    this.#again();
  }

  #onEnd(error: Error): void {
    if (this.#closed) return;
    this.#options.log.warn(
      { hop: 'control', cause: messageOf(error) },
      'share feed interrupted; the last good list stays',
    );
    this.#again();
  }

  #again(): void {
    this.#stream = undefined;
    // Whatever the old stream still says is not listened to.
    this.#attempt += 1;
    clearTimeout(this.#retry);
    if (!this.#closed) this.#retry = setTimeout(() => this.connect(), this.#backOff.next());
  }

  #write(): void {
    this.#save = undefined;
    const { table, access, snapshotFile, log } = this.#options;
    const at = this.#position;
    if (at === undefined) return;
    const kept: KeptShares = { ...at, shares: table.shares().map(withoutSecrets), ...access.kept() };
    this.#saving = this.#saving.then(async () => {
      try {
        await writeFileDurably(snapshotFile, JSON.stringify(kept));
      } catch (error) {
        log.warn(
          { hop: 'gateway', file: snapshotFile, cause: messageOf(error) },
          'share list not kept on disk',
        );
      }
    });
  }
}

/** Who is guarded by passwords stays guarded, by ones that nobody has. */
function withoutSecrets(share: GatewayShare): GatewayShare {
  if (share.rules === null || share.rules.basicAuth.length === 0) return share;
  const basicAuth = share.rules.basicAuth.map(({ name }) => ({ name, passwordHash: '' }));
  return { ...share, rules: { ...share.rules, basicAuth } };
}
