/**
 * Keeps the index of API sessions up to date with stored rows that other control planes write, and transactions of other parts
 * of this one. Changes that the caller is writing itself are its own, and are not read back.
 */
import { messageOf, type LeaseClock, type Log } from '#base';
import type { Secrets } from '../../secrets/mod.ts';
import type { ApiSessionTable, Change, Store } from '../../store/mod.ts';
import type { ApiSessionIndex } from './api-session-index.ts';
import { certificatesOf, idsOf, postureOf, readSessionRows, sessionOf } from './api-session-rows.ts';

export interface ApiSessionFollowerOptions {
  readonly store: Store;
  readonly secrets: Pick<Secrets, 'unseal'>;
  readonly index: ApiSessionIndex;
  readonly leases: LeaseClock;
  readonly log: Log;
}

export class ApiSessionFollower {
  readonly #options: ApiSessionFollowerOptions;
  /** Sessions that are being written or deleted here. */
  readonly #writing = new Set<string>();

  constructor(options: ApiSessionFollowerOptions) {
    this.#options = options;
    options.store.onChange((changes) => this.#onChanges(changes));
  }

  /** Runs `write`. Changes of the session that are reported in the meantime are ignored. */
  async write(id: string, write: () => Promise<void>): Promise<void> {
    this.#writing.add(id);
    try {
      await write();
    } finally {
      this.#writing.delete(id);
    }
  }

  async reread(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) this.settle(ids, await readSessionRows(this.#options.store.db, ids));
  }

  /** Applies the rows of `ids`; those without a row were deleted. */
  settle(ids: readonly string[], rows: readonly ApiSessionTable[]): void {
    const { index, leases } = this.#options;
    const present = new Set(rows.map(({ id }) => id));
    const { aheadMs } = leases;
    for (const id of ids) if (!present.has(id)) index.drop(id);
    for (const row of rows) {
      const entry = index.get(row.id);
      if (entry === undefined) {
        if (!this.#writing.has(row.id)) this.take(row, row.expires_at - Math.min(aheadMs, 0));
        continue;
      }
      entry.form = row.form;
      index.setCertificates(entry, certificatesOf(row));
      index.setPosture(entry, postureOf(row));
      entry.storedExpiresAtMs = row.expires_at;
      entry.expiresAtMs = Math.max(entry.expiresAtMs, row.expires_at - aheadMs);
    }
  }

  /** Adds a session to the index, unless its row is damaged. */
  take(row: ApiSessionTable, expiresAtMs: number): void {
    const { index, secrets, log } = this.#options;
    try {
      index.insert(sessionOf(row, secrets), expiresAtMs);
    } catch (error) {
      log.warn(
        { apiSession: row.id, error: messageOf(error) },
        'an API session cannot be read and was dropped',
      );
    }
  }

  async #onChanges(changes: readonly Change[]): Promise<void> {
    if (changes.some(({ entity }) => entity === 'everything')) return this.#rereadAll();
    const ids = changes.filter(({ entity }) => entity === 'api-session').map(({ id }) => id);
    await this.reread(ids.filter((id) => !this.#writing.has(id)));
  }

  async #rereadAll(): Promise<void> {
    const { index, store } = this.#options;
    const known = idsOf([...index.all()]);
    const rows = await readSessionRows(store.db);
    this.settle(known, rows);
  }
}
