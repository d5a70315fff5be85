/** Policies by the ids that they name on one side, because programs create one or two for each identity or service. */
import type { EdgePolicy } from './edge-entity.ts';
import type { RoleSelection } from './role-policy.ts';

export class PolicyIndex {
  readonly #sideOf: (policy: EdgePolicy) => RoleSelection;
  readonly #naming = new Map<string, Set<EdgePolicy>>();
  /** Those that select by attributes, which any entity may have. */
  readonly #general = new Set<EdgePolicy>();

  constructor(sideOf: (policy: EdgePolicy) => RoleSelection) {
    this.#sideOf = sideOf;
  }

  add(policy: EdgePolicy): void {
    const { isAll, attributes, ids } = this.#sideOf(policy);
    if (isAll || attributes.length > 0) {
      this.#general.add(policy);
      return;
    }
    for (const id of ids) {
      const naming = this.#naming.get(id);
      if (naming === undefined) this.#naming.set(id, new Set([policy]));
      else naming.add(policy);
    }
  }

  remove(policy: EdgePolicy): void {
    this.#general.delete(policy);
    for (const id of this.#sideOf(policy).ids) {
      const naming = this.#naming.get(id);
      if (naming?.delete(policy) === true && naming.size === 0) this.#naming.delete(id);
    }
  }

  /** Returns the policies that may select the entity: those that name it, and those that select by attributes. */
  *candidates(id: string): IterableIterator<EdgePolicy> {
    yield* this.#naming.get(id) ?? [];
    yield* this.#general;
  }
}
