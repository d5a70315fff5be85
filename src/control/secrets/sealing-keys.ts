/**
 * The replacement of the key in `secrets.key` (ADR 0062), as each control plane takes part in it: it reads its file again when
 * that changes, reports the keys that it has, encrypts with the key that the database names, helps to encrypt stored values
 * again, and removes former keys from its file at the end. Every step can be repeated after a crash.
 */
import { randomUUID } from 'node:crypto';
import { FrontdoorError, messageOf, type Clock, type Log } from '#base';
import { addNextKey, KEY_FILE_READ_ONLY, keepOnlyKey, loadKeyRing } from './key-file.ts';
import type { KeyRing, Secrets } from './secrets.ts';
import type { Queries, Store } from '../store/mod.ts';
import { countOfFormerKey, resealAll } from './resealing.ts';

const LOOK_MS = 30_000;
/** A control plane that did not look for this time has stopped. */
const LIVE_MS = 4 * LOOK_MS;
/** One control plane at a time encrypts again; another one continues after this time if it stops. */
const LEASE_MS = 60_000;
/** Log-ins that are not complete are encrypted at the client, not in the database; they last for less than this time. */
const OUTSIDE_MS = 3_600_000;

export interface SealingOptions {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly dataDir: string;
  /** Names this control plane in answers and logs. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SealingState {
  /** The key that replaces another one, or did so last; null if none was replaced. */
  readonly keyId: string | null;
  readonly state: 'none' | 'added' | 'sealing' | 'done';
  /** Control planes that do not have the key, or do not encrypt with it yet. */
  readonly missingAt: readonly string[];
  /** Stored values that only a former key opens. */
  readonly remaining: number;
}

/** Makes the database's key the one that encrypts. Throws `invalid` if the file does not hold it. */
export async function useSealingKey(db: Queries, secrets: Secrets): Promise<void> {
  const row = await newestKey(db);
  if (row === undefined || row.state === 'added') return;
  try {
    secrets.sealWith(row.key_id);
  } catch (cause) {
    const message = `the database is encrypted with the key ${row.key_id}, which secrets.key does not hold: copy the file from another control plane, or restore it`;
    throw new FrontdoorError('invalid', 'key-file', message, { cause });
  }
}

export class SealingKeys {
  readonly #options: SealingOptions;
  readonly #id = randomUUID();
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #isClosed = false;
  #isReadOnly = false;

  constructor(options: SealingOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Takes the next step that is possible. Never rejects: a failure is logged and repeated. */
  look(): Promise<void> {
    this.#running ??= this.#look()
      .catch((error: unknown) =>
        this.#options.log.warn({ err: messageOf(error) }, 'the keys of secrets.key could not be compared'),
      )
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#running;
    const { store } = this.#options;
    await store.db
      .deleteFrom('sealing_member')
      .where('id', '=', this.#id)
      .execute()
      .catch(() => {});
  }

  async state(db: Queries = this.#options.store.db): Promise<SealingState> {
    const row = await newestKey(db);
    if (row === undefined) return { keyId: null, state: 'none', missingAt: [], remaining: 0 };
    const { key_id: keyId, state } = row;
    const missingAt = state === 'done' ? [] : (await this.#without(db, keyId, state)).map(({ name }) => name);
    const remaining = state === 'sealing' ? await countOfFormerKey(db, keyId) : 0;
    return { keyId, state, missingAt, remaining };
  }

  /**
   * Adds a key to the file of this control plane, or continues: once every control plane has the key, it begins to encrypt.
   * Must be called in the transaction of the change, after `prepare`.
   */
  async begin(trx: Queries, keyId: string): Promise<void> {
    const { clock } = this.#options;
    const row = await newestKey(trx);
    if (row?.state === 'sealing') return;
    if (row?.state !== 'added') {
      const added = {
        key_id: keyId,
        state: 'added' as const,
        added_at: clock.nowMs(),
        sealing_at: null,
        worked_until: 0,
      };
      await trx
        .insertInto('sealing_key')
        .values(added)
        .onConflict((conflict) => conflict.column('key_id').doNothing())
        .execute();
    } else if (row.key_id !== keyId) throw addedElsewhere(row.key_id);
    if ((await this.#without(trx, keyId, 'added')).length > 0) return;
    const sealing = { state: 'sealing' as const, sealing_at: clock.nowMs() };
    const begun = trx.updateTable('sealing_key').set(sealing).where('key_id', '=', keyId);
    await begun.where('state', '=', 'added').execute();
  }

  /** Returns the id of the next key, which is in the file of this control plane then. */
  async prepare(): Promise<string> {
    const { store, dataDir } = this.#options;
    const row = await newestKey(store.db);
    if (row?.state === 'sealing') return row.key_id;
    const ring = await loadKeyRing(dataDir);
    if (row?.state === 'added' && ring?.keys.some(({ id }) => id === row.key_id) !== true)
      throw addedElsewhere(row.key_id);
    const id = await addNextKey(dataDir);
    await this.look();
    return id;
  }

  async #look(): Promise<void> {
    const { store, secrets, dataDir, log } = this.#options;
    let ring = await loadKeyRing(dataDir);
    const row = await newestKey(store.db);
    if (row?.state === 'done') ring = (await this.#removeFormer(row.key_id)) ?? ring;
    if (ring !== undefined) {
      const ids = ring.keys.map(({ id }) => id);
      // Before the keys are replaced, because the former one may be removed by that.
      const next = row?.state === 'added' ? undefined : row?.key_id;
      if (next !== undefined && next !== secrets.sealingId && secrets.keyIds.includes(next))
        secrets.sealWith(next);
      if (ids.join() !== secrets.keyIds.join()) {
        secrets.replaceKeys(ring.keys);
        log.info({ keys: ids }, 'secrets.key was read again');
      }
      if (next !== undefined && next !== secrets.sealingId) secrets.sealWith(next);
    }
    await this.#report();
    if (row?.state === 'sealing' && secrets.sealingId === row.key_id)
      await this.#work(row.key_id, (row.sealing_at ?? 0) + OUTSIDE_MS);
  }

  /** A file that another program provides keeps its keys. */
  async #removeFormer(keyId: string): Promise<KeyRing | undefined> {
    const { dataDir, log } = this.#options;
    if (this.#isReadOnly) return undefined;
    try {
      return await keepOnlyKey(dataDir, keyId);
    } catch (error) {
      if (!(error instanceof FrontdoorError) || error.code !== KEY_FILE_READ_ONLY) throw error;
      this.#isReadOnly = true;
      log.info({ key: keyId }, 'secrets.key cannot be replaced from here, and keeps its former keys');
      return undefined;
    }
  }

  async #report(): Promise<void> {
    const { store, secrets, name, clock } = this.#options;
    const seen = { key_ids: secrets.keyIds.join(' '), sealing_id: secrets.sealingId, seen_at: clock.nowMs() };
    await store.db
      .insertInto('sealing_member')
      .values({ id: this.#id, name, ...seen })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(seen))
      .execute();
    await store.db
      .deleteFrom('sealing_member')
      .where('seen_at', '<', clock.nowMs() - 10 * LIVE_MS)
      .execute();
  }

  /** Control planes that do not have the key; in the state `sealing`, those that do not encrypt with it. */
  async #without(db: Queries, keyId: string, state: 'added' | 'sealing') {
    const { clock } = this.#options;
    const rows = await db
      .selectFrom('sealing_member')
      .selectAll()
      .where('seen_at', '>', clock.nowMs() - LIVE_MS)
      .orderBy('name')
      .execute();
    return rows.filter(({ key_ids: ids, sealing_id: sealing }) =>
      state === 'sealing' ? sealing !== keyId : !ids.split(' ').includes(keyId),
    );
  }

  async #work(keyId: string, endsAfterMs: number): Promise<void> {
    const { store, secrets, clock, log } = this.#options;
    const lease = async (): Promise<boolean> => {
      const nowMs = clock.nowMs();
      const { numUpdatedRows } = await store.db
        .updateTable('sealing_key')
        .set({ worked_until: nowMs + LEASE_MS })
        .where('key_id', '=', keyId)
        .where('state', '=', 'sealing')
        .where('worked_until', '<', isMine ? Number.MAX_SAFE_INTEGER : nowMs)
        .executeTakeFirst();
      return numUpdatedRows === 1n && !this.#isClosed;
    };
    let isMine = false;
    if (!(await lease())) return;
    isMine = true;
    // Another control plane may write with the former key until it encrypts with the new one.
    const areAllReady = (await this.#without(store.db, keyId, 'sealing')).length === 0;
    const count = await resealAll({ store, secrets, goesOn: lease });
    if (count > 0) log.info({ key: keyId, values: count }, 'stored values were encrypted with the new key');
    const isLate = clock.nowMs() >= endsAfterMs;
    const isDone = areAllReady && isLate && (await countOfFormerKey(store.db, keyId)) === 0;
    const end = isDone ? { state: 'done' as const, worked_until: 0 } : { worked_until: 0 };
    await store.db
      .updateTable('sealing_key')
      .set(end)
      .where('key_id', '=', keyId)
      .where('state', '=', 'sealing')
      .execute();
    if (isDone)
      log.info({ key: keyId }, 'every stored value is encrypted with the new key: former keys are removed');
  }
}

function newestKey(db: Queries) {
  return db.selectFrom('sealing_key').selectAll().orderBy('added_at', 'desc').limit(1).executeTakeFirst();
}

function addedElsewhere(keyId: string): FrontdoorError {
  return new FrontdoorError(
    'conflict',
    'conflict',
    `The key ${keyId} was added at another control plane: copy its secrets.key to this one, then try again`,
  );
}
