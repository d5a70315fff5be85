/**
 * The last good list of shares on disk, for a start while the control plane is away. It is written some time after a change,
 * and without secrets.
 */
import { readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { messageOf, type Log } from '#base';
import { keptSharesShape, type ServedShare } from '#domain/gateway-shapes';
import { replaceFileDurably, setAside } from '#net/files';
import type { AccessFeed } from './access-feed.ts';
import { parseSnapshotFile, type FeedPosition } from './share-feed-codec.ts';

export interface KeptShareListOptions {
  readonly file: string;
  readonly log: Log;
  /** Returns the list as it is now; undefined if there is none to keep. */
  readonly current: () => KeptContent | undefined;
  /** Delay after the first change, within which further changes are written together; 500 ms by default. */
  readonly delayMs?: number | undefined;
}

export interface KeptContent {
  readonly position: FeedPosition;
  readonly shares: readonly ServedShare[];
  readonly access: ReturnType<AccessFeed['kept']>;
}

const DELAY_MS = 500;
/** Shares that are encoded in one turn of the loop. */
const SHARES_PER_TURN = 500;
/** Writing the list may take this share of the time. */
const MAX_SAVE_LOAD = 0.05;

export class KeptShareList {
  readonly #options: KeptShareListOptions;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** How long it took to write the list the last time. */
  #tookMs = 0;

  constructor(options: KeptShareListOptions) {
    this.#options = options;
  }

  /** Returns undefined if there is no usable file; the log then has the reason, unless there is no file. */
  async load(): Promise<Exclude<ReturnType<typeof parseSnapshotFile>, string> | undefined> {
    const { file, log } = this.#options;
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        log.warn({ hop: 'gateway', file, cause: messageOf(error) }, 'kept share list cannot be read');
      }
      return undefined;
    }
    const read = parseSnapshotFile(text);
    if (typeof read !== 'string') return read;
    log.warn(
      { hop: 'gateway', file, cause: read, movedTo: await setAside(file) },
      'kept share list is not usable; this gateway starts without one',
    );
    return undefined;
  }

  /** Writes the list soon. */
  save(): void {
    const delayMs = Math.max(this.#options.delayMs ?? DELAY_MS, this.#tookMs / MAX_SAVE_LOAD);
    this.#timer ??= setTimeout(() => this.#write(), delayMs);
  }

  /** Begins to write a change that was not written yet. `written` resolves when that is done. */
  close(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#write();
  }

  get written(): Promise<void> {
    return this.#writing;
  }

  #write(): void {
    this.#timer = undefined;
    const { file, log, current } = this.#options;
    const content = current();
    if (content === undefined) return;
    const { position, shares, access } = content;
    const { shares: _none, ...rest } = keptSharesShape.numbered({ ...position, shares: [], ...access });
    this.#writing = this.#writing.then(async () => {
      const startMs = performance.now();
      try {
        await writeList(file, rest, shares);
        this.#tookMs = performance.now() - startMs;
      } catch (error) {
        log.warn(
          { hop: 'gateway', file, cause: messageOf(error) },
          'share list could not be written to disk',
        );
      }
    });
  }
}

/** Writes `rest` with the shares as one JSON object. A long list takes several turns of the loop. */
async function writeList(path: string, rest: object, shares: readonly ServedShare[]): Promise<void> {
  await replaceFileDurably(path, async (file) => {
    await file.writeFile(`${JSON.stringify(rest).slice(0, -1)},"shares":[`);
    for (let at = 0; at < shares.length; at += SHARES_PER_TURN) {
      const some = shares
        .slice(at, at + SHARES_PER_TURN)
        .map((share) => JSON.stringify(withoutSecrets(share)));
      await file.writeFile(`${at === 0 ? '' : ','}${some.join(',')}`);
    }
    await file.writeFile(']}');
  });
}

/** Replaces passwords by ones that nobody has, so that the share stays guarded. */
function withoutSecrets(share: ServedShare): ServedShare {
  if (share.rules === null || share.rules.basicAuth.length === 0) return share;
  const basicAuth = share.rules.basicAuth.map(({ name }) => ({ name, passwordHash: '' }));
  return { ...share, rules: { ...share.rules, basicAuth } };
}
