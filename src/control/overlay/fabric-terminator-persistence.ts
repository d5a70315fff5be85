/**
 * Where terminators that routers make for fabric services are kept. The store writes them; the model, which follows
 * the store, tells the overlay of them: what is written is in the model when the promise resolves.
 */
import type { FabricTerminator } from '../model/mod.ts';

export interface FabricTerminatorPersistence {
  /** Resolves to its id. Rejects when service or router are gone meanwhile. */
  create(terminator: Omit<FabricTerminator, 'id'>): Promise<string>;
  /** False: no such terminator. */
  update(id: string, change: { readonly cost?: number; readonly precedence?: number }): Promise<boolean>;
  /** Ids that are not there are passed over. */
  remove(ids: readonly string[]): Promise<void>;
}
