/**
 * The shares in memory, with what gateways need of them, and their projection into the overlay: each is a service there.
 * Everything that answers for shares reads them here; the overlay knows only its own services.
 */
import type { GuardedShare } from '#domain';
import { failAlone } from '#net';
import type { OverlayModel } from '../../overlay/model/mod.ts';
import { overlayServiceOf } from './overlay-service.ts';

export class ShareCatalog {
  readonly #model: Pick<OverlayModel, 'setHostedService' | 'removeHostedService'>;
  readonly #shares = new Map<string, GuardedShare>();
  readonly #listeners: ((shareId: string) => void)[] = [];

  constructor(model: Pick<OverlayModel, 'setHostedService' | 'removeHostedService'>) {
    this.#model = model;
  }

  get(id: string): GuardedShare | undefined {
    return this.#shares.get(id);
  }

  all(): IterableIterator<GuardedShare> {
    return this.#shares.values();
  }

  /** Calls the listener after each change, when the overlay has it, too. */
  onChange(listener: (shareId: string) => void): void {
    this.#listeners.push(listener);
  }

  set(share: GuardedShare): void {
    this.#shares.set(share.id, share);
    this.#model.setHostedService(overlayServiceOf(share));
    this.#notify(share.id);
  }

  remove(id: string): void {
    if (!this.#shares.delete(id)) return;
    this.#model.removeHostedService(id);
    this.#notify(id);
  }

  #notify(id: string): void {
    for (const listener of this.#listeners) {
      try {
        listener(id);
      } catch (error) {
        failAlone({ kind: 'record', id: `a change of the share ${id}` }, error);
      }
    }
  }
}
