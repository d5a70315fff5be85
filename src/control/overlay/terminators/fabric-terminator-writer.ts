/** Writes the terminators that routers create for fabric services. */
import type { Clock } from '#base';
import {
  changeFabricTerminator,
  createFabricTerminator,
  deleteFabricTerminators,
  lockFabricTerminator,
  type NewFabricTerminator,
} from './terminator-store.ts';
import type { Store } from '../../store/mod.ts';

const CHUNK = 500;

export class FabricTerminatorWriter {
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Resolves to its id. Errors: `conflict` if the service or router was deleted, or the service has too many. */
  async create(terminator: NewFabricTerminator): Promise<string> {
    const nowMs = this.#clock.nowMs();
    const { id } = await this.#store.transaction((trx, touch) =>
      createFabricTerminator(trx, touch, terminator, nowMs),
    );
    return id;
  }

  /** Resolves to false if there is no such terminator. */
  update(id: string, change: { readonly cost?: number; readonly precedence?: number }): Promise<boolean> {
    return this.#store.transaction(async (trx, touch) => {
      const before = await lockFabricTerminator(trx, id);
      if (before === undefined) return false;
      await changeFabricTerminator(trx, touch, before, change);
      return true;
    });
  }

  /** Unknown ids are skipped. */
  async remove(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += CHUNK) {
      const some = ids.slice(at, at + CHUNK);
      await this.#store.transaction((trx, touch) => deleteFabricTerminators(trx, touch, some));
    }
  }
}
