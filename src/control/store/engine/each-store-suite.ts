/**
 * Both databases behind one door, for tests that hold on each: `describeEachStore` runs its body once for the embedded
 * database and once for PostgreSQL.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe } from 'node:test';
import type { Log } from '#base';
import { postgresSkip, sharedPostgres } from '../../../../test/support/postgres.ts';
import { openStore, type StoreOptions } from './open-store.ts';
import type { Store } from './store.ts';

/** A new, empty store; whoever opens it closes it. */
export type OpenStore = (options?: { readonly log?: Log }) => Promise<Store>;

/** Where a new store is that may be opened again and again, and by other processes: options for `openStore`. */
export type NewPlace = () => Promise<Pick<StoreOptions, 'path' | 'database'>>;

export const openEmbedded: OpenStore = (options) => openStore({ path: 'memory', ...options });

export const newPostgresPlace: NewPlace = async () => {
  const server = await sharedPostgres();
  return { path: 'unused', database: await server.createDatabase() };
};

/** Copies a database that has every migration: they are tested by themselves, and take most of the time of an opening. */
export const openPostgres: OpenStore = async (options) => {
  const server = await sharedPostgres();
  const migrated = async (database: string): Promise<void> =>
    (await openStore({ path: 'unused', database })).close();
  const database = await server.createCopy('migrated', migrated);
  return openStore({ path: 'unused', database, ...options });
};

/** A file in a folder of its own, which goes with this process. */
export const newEmbeddedPlace: NewPlace = () => {
  const folder = mkdtempSync(join(tmpdir(), 'frontdoor-store-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return Promise.resolve({ path: join(folder, 'control.db') });
};

export function describeEachStore(name: string, body: (open: OpenStore, newPlace: NewPlace) => void): void {
  describe(`${name} (embedded)`, () => body(openEmbedded, newEmbeddedPlace));
  describe(`${name} (PostgreSQL)`, { skip: postgresSkip }, () => body(openPostgres, newPostgresPlace));
}
