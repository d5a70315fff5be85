/** Where the overlay reads the services that a front door offers. The front door implements it, so that the overlay knows none. */
import type { Queries } from '../../store/mod.ts';
import type { Service } from './overlay-model.ts';

export interface ServiceCatalog {
  /** The services with these ids; those that are gone are left out. At most 500 ids. */
  find(db: Queries, ids: readonly string[]): Promise<Service[]>;
  /** The first `limit` services after an id, in the order of ids. */
  after(db: Queries, id: string, limit: number): Promise<Service[]>;
}
