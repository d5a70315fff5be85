/**
 * Keeps what a part holds in memory equal to the store: everything is read at the start, and what changed after each commit. As
 * a listener of the store it reads before a write is acknowledged, so that acknowledged writes are in effect. While the
 * store is unavailable, the part keeps its notes of changes, and they are read later.
 */
import { BackOff, messageOf, silentLog, type Log } from '#base';
import type { Change, Store } from './store.ts';

export interface FollowedRows {
  /** What the log names. */
  readonly what: string;
  /** Notes what must be read again. */
  note(changes: readonly Change[]): void;
  /** Reads what is noted, all at first. After a failure everything must still be noted. */
  read(): Promise<void>;
}

export interface StoreFollower {
  /** Reads what the part has noted by itself. Resolves when that was read or has failed, and will be repeated. */
  readNoted(): Promise<void>;
  /** Stops retrying. Changes of the store still arrive. */
  close(): void;
}

/** Resolves when everything was read. Rejects with errors of the store. */
export async function followStore(
  store: Store,
  rows: FollowedRows,
  log: Log = silentLog,
): Promise<StoreFollower> {
  const backOff = new BackOff({ minMs: 200, maxMs: 5_000, factor: 2 });
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const loaded = Promise.withResolvers<void>();
  let reading: Promise<void> = loaded.promise;

  const readNoted = (): Promise<void> => (reading = reading.then(read));

  async function read(): Promise<void> {
    try {
      await rows.read();
      backOff.reset();
    } catch (error) {
      log.error({ cause: messageOf(error) }, `${rows.what} could not be read from the store; retrying`);
      if (closed) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        void readNoted();
      }, backOff.next()).unref();
    }
  }

  store.onChange((changes) => {
    rows.note(changes);
    return readNoted();
  });
  try {
    await rows.read();
  } finally {
    loaded.resolve();
  }
  return {
    readNoted,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
