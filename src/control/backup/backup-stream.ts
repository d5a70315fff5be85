/**
 * One online backup as a gzip stream. It starts after the snapshot was made, so that an unavailable database is
 * reported before anything is sent, and it releases the snapshot when its reader is gone or stalls.
 */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { createGzip } from 'node:zlib';
import { messageOf, type Clock, type Log } from '#base';
import type { Store } from '../store/mod.ts';
import { backedUpTables, backupLines } from './backup-lines.ts';

/** A reader that does not take a page within this time is gone. */
const STALLED_MS = 30_000;
const MAX_PAUSE_MS = 20;
/** A third of the default's time, for 5 % more bytes. */
const COMPRESSION_LEVEL = 3;

export interface BackupOptions {
  readonly store: Pick<Store, 'snapshot'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the backup early; its reader sees the stream break. */
  readonly signal?: AbortSignal;
  readonly stalledMs?: number;
}

export interface OpenBackup {
  /** Compressed lines. Breaks if the database fails, because a backup without its end is invalid. */
  readonly stream: Readable;
  /** Resolves when everything is closed, however it ended. */
  readonly closed: Promise<void>;
}

/** Rejects with errors of the store. */
export async function openBackup(options: BackupOptions): Promise<OpenBackup> {
  const { store, clock, log, signal, stalledMs = STALLED_MS } = options;
  const gzip = createGzip({ level: COMPRESSION_LEVEL });
  const started = Promise.withResolvers<void>();
  const taken = store.snapshot(async (db) => {
    const watch = setInterval(() => {
      if (gzip.writableNeedDrain) gzip.destroy(new Error('the reader of the backup stands still'));
    }, stalledMs);
    const watched = async function* (): AsyncGenerator<string> {
      let sinceMs = performance.now();
      for await (const text of backupLines(db, clock.nowMs(), await backedUpTables(db))) {
        started.resolve();
        watch.refresh();
        yield text;
        // Pauses for as long as the page took, so that half of the time is left for others.
        await pause(Math.min(performance.now() - sinceMs, MAX_PAUSE_MS));
        sinceMs = performance.now();
      }
    };
    try {
      await pipeline(watched(), gzip, signal === undefined ? {} : { signal });
    } finally {
      clearInterval(watch);
    }
  });
  const closed = taken.then(
    () => log.info({ bytes: gzip.bytesWritten }, 'backup taken'),
    (error: unknown) => {
      started.reject(error);
      gzip.destroy();
      log.warn({ err: messageOf(error) }, 'backup aborted');
    },
  );
  await started.promise;
  return { stream: gzip, closed };
}
