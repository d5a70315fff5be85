/** Opens the store: on PostgreSQL where a database is named, else embedded, in a file of this machine. */
import { openEmbeddedStore, type EmbeddedStoreOptions } from './embedded-store.ts';
import type { Store } from './store.ts';

export interface StoreOptions extends EmbeddedStoreOptions {
  /** A `postgres:` URL, in place of the file. */
  readonly database?: string | undefined;
}

/** Errors: `invalid` and `unavailable` when the database cannot be opened, `internal` for a bad schema. */
export async function openStore({ database, ...options }: StoreOptions): Promise<Store> {
  if (database === undefined) return openEmbeddedStore(options);
  // Loaded where it is needed: most installations live on the embedded database.
  const { openPostgresStore } = await import('./postgres-store.ts');
  return openPostgresStore({ ...options, url: database });
}
