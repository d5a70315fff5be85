/** Opens the store: PostgreSQL if a database is named, otherwise an embedded database in a file. */
import { openEmbeddedStore, type EmbeddedStoreOptions } from './embedded-store.ts';
import type { Store } from './store.ts';

export interface StoreOptions extends EmbeddedStoreOptions {
  /** A `postgres:` URL instead of the file. */
  readonly database?: string | undefined;
}

/** Errors: `invalid` and `unavailable` if the database cannot be opened, `internal` for a bad schema. */
export async function openStore({ database, ...options }: StoreOptions): Promise<Store> {
  if (database === undefined) return openEmbeddedStore(options);
  // Loaded on demand, because most installations use the embedded database.
  const { openPostgresStore } = await import('./postgres-store.ts');
  return openPostgresStore({ ...options, url: database });
}
