/**
 * The router data model of a router that tolerates no wrong order. OpenZiti's routers crash after a relation to an identity
 * that they do not have, and keep relations to a policy that was removed before them.
 */
import assert from 'node:assert/strict';
import { DataState_Action, type CtrlBody } from '#wire/ctrl';

type Event = CtrlBody<'dataState'>['events'][number];

const RELATED = { 1: 'service', 2: 'identity', 3: 'postureCheck' } as const;

export class StrictDataModel {
  /** The entities as JSON, by kind and id. */
  readonly #entities = new Map<string, string>();
  /** The keys to which each entity refers: configs, and for a policy all that it relates. */
  readonly #references = new Map<string, Set<string>>();
  /** The reverse of `#references`. */
  readonly #namedBy = new Map<string, Set<string>>();

  apply(events: readonly Event[]): void {
    for (const event of events) this.#apply(event);
  }

  /** Entities and references, in a form that can be compared. */
  content(): unknown {
    const references = [...this.#references].flatMap(([from, to]) => [...to].map((one) => `${from} ${one}`));
    return [new Map(this.#entities), new Set(references)];
  }

  #apply({ action, model }: Event): void {
    if (model.case === undefined || model.case === 'publicKey' || model.case === 'revocation') return;
    if (model.case === 'servicePolicyChange') {
      const { policyId, relatedEntityIds, relatedEntityType, add } = model.value;
      const policy = `servicePolicy ${policyId}`;
      for (const id of relatedEntityIds) {
        const other = `${RELATED[relatedEntityType as 1 | 2 | 3]} ${id}`;
        this.#expect(policy, `a relation to ${other}`);
        this.#expect(other, `a relation of ${policy}`);
        this.#name(policy, other, add);
      }
      return;
    }
    const key = `${model.case} ${model.value.id}`;
    if (action === DataState_Action.DELETE) {
      assert.deepEqual([...(this.#namedBy.get(key) ?? [])], [], `what names ${key} at its removal`);
      const relations = model.case === 'servicePolicy' ? [...(this.#references.get(key) ?? [])] : [];
      assert.deepEqual(relations, [], `the relations of ${key} at its removal`);
      this.#nameOnly(key, []);
      this.#entities.delete(key);
      return;
    }
    if (model.case === 'config') this.#nameOnly(key, [`configType ${model.value.typeId}`]);
    if (model.case === 'service')
      this.#nameOnly(
        key,
        model.value.configs.map((id) => `config ${id}`),
      );
    const json = JSON.stringify(model.value, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    this.#entities.set(key, json);
  }

  #expect(key: string, why: string): void {
    assert.ok(this.#entities.has(key), `${key} does not exist: ${why}`);
  }

  #nameOnly(from: string, to: readonly string[]): void {
    for (const old of [...(this.#references.get(from) ?? [])])
      if (!to.includes(old)) this.#name(from, old, false);
    for (const one of to) {
      this.#expect(one, from);
      this.#name(from, one, true);
    }
  }

  #name(from: string, to: string, add: boolean): void {
    const change = add ? 'add' : 'delete';
    setOf(this.#references, from)[change](to);
    setOf(this.#namedBy, to)[change](from);
  }
}

function setOf(sets: Map<string, Set<string>>, key: string): Set<string> {
  let found = sets.get(key);
  if (found === undefined) sets.set(key, (found = new Set()));
  return found;
}
