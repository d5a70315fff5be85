/**
 * The controllers that a part of a router sees. Tests add and remove them; listeners are notified like those of the
 * real set.
 */
import type { Frame } from '#wire';
import type { Controller, Controllers } from '../ctrl/controllers.ts';

type Listener = (controller: Controller) => void;

export class ControllerList<C extends Controller = Controller> implements Controllers {
  readonly #controllers: C[] = [];
  readonly #onConnected: Listener[] = [];
  readonly #onDisconnected: Listener[] = [];

  /** Responsive controllers first, then the oldest. */
  all(): readonly C[] {
    return this.#controllers.toSorted((a, b) => Number(b.isResponsive) - Number(a.isResponsive));
  }

  best(): C | undefined {
    return this.all()[0];
  }

  byId(id: string): C | undefined {
    return this.#controllers.find((controller) => controller.id === id);
  }

  broadcast(frame: Frame): number {
    for (const { channel } of this.#controllers) channel.send({ ...frame });
    return this.#controllers.length;
  }

  onConnected(listener: Listener): void {
    this.#onConnected.push(listener);
  }

  onDisconnected(listener: Listener): void {
    this.#onDisconnected.push(listener);
  }

  add(controller: C): void {
    this.#controllers.push(controller);
    for (const listener of this.#onConnected) listener(controller);
  }

  remove(controller: C): void {
    this.#controllers.splice(this.#controllers.indexOf(controller), 1);
    for (const listener of this.#onDisconnected) listener(controller);
  }
}
