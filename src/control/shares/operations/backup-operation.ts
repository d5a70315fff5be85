/** Streams a backup of the whole database. It needs disk space and time, so only one runs at a time. */
import type { Store } from '../../store/mod.ts';
import { openBackup } from '../../backup/mod.ts';
import { tooMany } from './api-errors.ts';
import { change, unstored, type ApiParts, type ChangeParts, type Handlers } from './call.ts';

const TRY_AGAIN_SECONDS = 10;

/** Databases with a running backup of this process, and the controller to abort it. */
const open = new WeakMap<Store, AbortController>();

/** Aborts the backup, because the API is closing. */
export function breakOffBackup(store: Store): void {
  open.get(store)?.abort(new Error('the Management API stops'));
}

export const backupHandlers: Handlers<ChangeParts & Pick<ApiParts, 'log'>, 'getBackup'> = {
  async getBackup(parts, call) {
    const { store, clock, log } = parts;
    if (open.has(store)) throw tooMany(TRY_AGAIN_SECONDS);
    const stop = new AbortController();
    open.set(store, stop);
    try {
      const takenAt = new Date(clock.nowMs()).toISOString();
      await change(parts, call, async () => ({ result: undefined, target: { kind: 'backup', id: takenAt } }));
      const { stream, closed } = await openBackup({ store, clock, log, signal: stop.signal });
      void closed.finally(() => open.delete(store));
      const disposition = `attachment; filename="frontdoor-${takenAt.slice(0, 10)}.backup"`;
      return unstored({
        status: 200,
        raw: { contentType: 'application/gzip', data: stream },
        headers: { 'content-disposition': disposition },
      });
    } catch (error) {
      open.delete(store);
      throw error;
    }
  },
};
