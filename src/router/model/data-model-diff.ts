/** Compares two data models, as the answer to a controller that verifies its routers' models. */
import { isDeepStrictEqual } from 'node:util';
import { equalBytes } from '#base';
import { ENTITY_KINDS, type DataModel, type EntityKind } from './data-model.ts';

export interface DataModelDifference {
  readonly entityType: string;
  readonly entityId: string;
  /** The kind of difference, from the view of the correct model. */
  readonly diffType: 'added' | 'modified' | 'removed';
  readonly detail: string;
}

/** OpenZiti's names of the kinds. */
const NAMES: Readonly<Record<EntityKind, string>> = {
  configType: 'configType',
  config: 'configs',
  identity: 'identities',
  service: 'services',
  router: 'routers',
  postureCheck: 'posture-checks',
  servicePolicy: 'service-policies',
  publicKey: 'public-keys',
  revocation: 'revocations',
};

export function countEntities(model: DataModel): Record<string, number> {
  return Object.fromEntries(ENTITY_KINDS.map((kind) => [NAMES[kind], model.entities(kind).size]));
}

export function differencesOf(model: DataModel, right: DataModel): DataModelDifference[] {
  return ENTITY_KINDS.flatMap((kind) => {
    const entityType = NAMES[kind];
    const own = model.entities(kind);
    const expected = right.entities(kind);
    const differences: DataModelDifference[] = [];
    for (const [entityId, entity] of expected) {
      const mine = own.get(entityId);
      if (mine === undefined)
        differences.push({ entityType, entityId, diffType: 'removed', detail: 'missing' });
      else if (!isSame(mine.value, entity.value))
        differences.push({ entityType, entityId, diffType: 'modified', detail: 'other fields' });
      else if (
        kind === 'servicePolicy' &&
        !isDeepStrictEqual(model.relationsOf(entityId), right.relationsOf(entityId))
      )
        differences.push({ entityType, entityId, diffType: 'modified', detail: 'relates other entities' });
    }
    for (const entityId of own.keys()) {
      if (!expected.has(entityId))
        differences.push({ entityType, entityId, diffType: 'added', detail: 'should not be here' });
    }
    return differences;
  });
}

/** Compares by value: byte strings are equal regardless of their kind of array. */
function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return equalBytes(a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => key in b && isSame(a[key as keyof typeof a], b[key as keyof typeof b]));
}
