/**
 * Storage of terminators that routers create for fabric services. The store writes them, and the model, which
 * follows the store, notifies the overlay: the model has the change when the promise resolves.
 */
import type { FabricTerminator } from './terminator-store.ts';

export interface FabricTerminatorPersistence {
  /** Resolves to its id. Rejects if the service or router was deleted in the meantime. */
  create(terminator: Omit<FabricTerminator, 'id'>): Promise<string>;
  /** Resolves to false if there is no such terminator. */
  update(id: string, change: { readonly cost?: number; readonly precedence?: number }): Promise<boolean>;
  /** Unknown ids are skipped. */
  remove(ids: readonly string[]): Promise<void>;
}
