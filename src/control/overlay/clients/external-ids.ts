/** Identities of the edge management API by their external ids, which tokens and certificates of other parties name. */
import type { Identity, OverlayModel } from '../model/overlay-model.ts';

export class ExternalIds {
  readonly #model: OverlayModel;
  /** An external id that several identities have leads to none of them. Undefined until it is needed next. */
  #ids: ReadonlyMap<string, string | undefined> | undefined;

  constructor(model: OverlayModel) {
    this.#model = model;
    model.onChange((change) => {
      if (change.type === 'edge') this.#ids = undefined;
    });
  }

  /** Returns undefined for an unknown one, and for one of several identities. */
  identityOf(externalId: string): Identity | undefined {
    const id = this.#all().get(externalId);
    return id === undefined ? undefined : this.#model.identity(id);
  }

  /** Whether an identity has the external id. */
  isKnown(externalId: string): boolean {
    return this.#all().has(externalId);
  }

  #all(): ReadonlyMap<string, string | undefined> {
    if (this.#ids !== undefined) return this.#ids;
    const found = new Map<string, string | undefined>();
    for (const { id, data } of this.#model.edge.all('identity')) {
      const { externalId } = data;
      if (typeof externalId === 'string' && externalId !== '')
        found.set(externalId, found.has(externalId) ? undefined : id);
    }
    this.#ids = found;
    return found;
  }
}
