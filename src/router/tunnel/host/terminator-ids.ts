/**
 * Ids of hosted terminators, which are kept with the data model, so that a router that starts again takes over its
 * terminators at the controllers. OpenZiti's routers keep them in the same form.
 */
import { randomBytes } from 'node:crypto';
import { base62, textOf, utf8 } from '#base';
import type { DataModel } from '../../model/data-model.ts';

export interface TerminatorId {
  readonly id: string;
  /** True if an earlier process may have created the terminator. */
  readonly isKept: boolean;
}

/** The names of OpenZiti and, for the instance of each terminator, our own. */
const IDS = 'TerminatorIds';
const INSTANCES = 'TerminatorInstances';
const ID_BYTES = 16;

export class TerminatorIds {
  readonly #model: DataModel;

  constructor(model: DataModel) {
    this.#model = model;
  }

  /** Returns the id of an entry. Controllers never change the instance of a terminator, so that another one is a new id. */
  take(key: string, instanceId: string): TerminatorId {
    const kept = this.#model.kept(IDS, key);
    const instance = this.#model.kept(INSTANCES, key);
    if (kept !== undefined && (instance === undefined ? '' : textOf(instance)) === instanceId)
      return { id: textOf(kept), isKept: true };
    const id = base62(randomBytes(ID_BYTES));
    this.#model.keep(IDS, key, utf8(id));
    this.#keepInstance(key, instanceId);
    return { id, isKept: false };
  }

  /** Forgets the id of an entry that is no longer hosted. */
  delete(key: string): void {
    if (this.#model.kept(IDS, key) === undefined) return;
    this.#model.keep(IDS, key, undefined);
    this.#keepInstance(key, '');
  }

  /** Forgets the ids that are not hosted, and returns them: they were when the router ran before. */
  prune(isHosted: (id: string) => boolean): readonly string[] {
    const stale: string[] = [];
    for (const [key, value] of this.#model.keptEntries(IDS)) {
      const id = textOf(value);
      if (isHosted(id)) continue;
      stale.push(id);
      this.delete(key);
    }
    return stale;
  }

  #keepInstance(key: string, instanceId: string): void {
    if (instanceId !== '') this.#model.keep(INSTANCES, key, utf8(instanceId));
    else if (this.#model.kept(INSTANCES, key) !== undefined) this.#model.keep(INSTANCES, key, undefined);
  }
}
