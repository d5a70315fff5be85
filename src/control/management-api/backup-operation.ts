/** Backup: everything that the database holds, streamed. It takes disk and time: one at a time. */
import type { Store } from '../store/mod.ts';
import { openBackup } from '../backup/mod.ts';
import { tooMany } from './api-errors.ts';
import { change, unstored, type ApiParts, type ChangeParts, type Handlers } from './call.ts';

const TRY_AGAIN_SECONDS = 10;

/** Databases of which a backup is being taken by this process, and how to end it. */
const open = new WeakMap<Store, AbortController>();

/** The API goes: nobody waits for the rest of a backup. */
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
