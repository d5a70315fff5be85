/** What routers ask to have stored of the terminators that they make for services of the installation. */
import type { Clock } from '#base';
import {
  changeFabricTerminator,
  createFabricTerminator,
  deleteFabricTerminators,
  lockFabricTerminator,
  type NewFabricTerminator,
} from './fabric-terminator-store.ts';
import type { Store } from '../engine/store.ts';

const CHUNK = 500;

export class FabricTerminatorWriter {
  readonly #store: Store;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Resolves to its id. Errors: `conflict` when service or router are gone, or the service has too many. */
  async create(terminator: NewFabricTerminator): Promise<string> {
    const nowMs = this.#clock.nowMs();
    const { id } = await this.#store.transaction((trx, touch) =>
      createFabricTerminator(trx, touch, terminator, nowMs),
    );
    return id;
  }

  /** False: no such terminator. */
  update(id: string, change: { readonly cost?: number; readonly precedence?: number }): Promise<boolean> {
    return this.#store.transaction(async (trx, touch) => {
      const before = await lockFabricTerminator(trx, id);
      if (before === undefined) return false;
      await changeFabricTerminator(trx, touch, before, change);
      return true;
    });
  }

  /** Ids that are not there are passed over. */
  async remove(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += CHUNK) {
      const some = ids.slice(at, at + CHUNK);
      await this.#store.transaction((trx, touch) => deleteFabricTerminators(trx, touch, some));
    }
  }
}
