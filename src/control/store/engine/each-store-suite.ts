/**
 * Runs tests on both databases: `describeEachStore` runs its body once for the embedded database and once for
 * PostgreSQL.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { Log } from '#base';
import { sharedPostgres } from '../../../../test/support/postgres.ts';
import { describeEachDatabase } from '../../../../test/support/test-part.ts';
import { openEmbedded } from './migrated-copy-fixture.ts';
import { openStore, type StoreOptions } from './open-store.ts';
import type { Store } from './store.ts';

/** Opens a new, empty store, which the caller closes. */
export type OpenStore = (options?: { readonly log?: Log }) => Promise<Store>;

/** Options of `openStore` for a new store that can be opened repeatedly, and by other processes. */
export type NewPlace = () => Promise<Pick<StoreOptions, 'path' | 'database'>>;

export const newPostgresPlace: NewPlace = async () => {
  const server = await sharedPostgres();
  return { path: 'unused', database: await server.createDatabase() };
};

/** Copies a migrated database, because migrations have their own tests and take most of the time. */
export const openPostgres: OpenStore = async (options) => {
  const server = await sharedPostgres();
  const migrated = async (database: string): Promise<void> =>
    (await openStore({ path: 'unused', database })).close();
  const database = await server.createCopy('migrated', migrated);
  return openStore({ path: 'unused', database, ...options });
};

/** A file in a folder of its own, which is removed with this process. */
export const newEmbeddedPlace: NewPlace = () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-store-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return Promise.resolve({ path: join(folder, 'control.db') });
};

export function describeEachStore(name: string, body: (open: OpenStore, newPlace: NewPlace) => void): void {
  describeEachDatabase(name, (database) =>
    database === 'embedded' ? body(openEmbedded, newEmbeddedPlace) : body(openPostgres, newPostgresPlace),
  );
}
