/**
 * Keeps the overlay's model equal to the store: which rows changed, and the order in which they take effect. A front door that
 * has services of its own projects them after this.
 */
import type { Log } from '#base';
import { mapAlone } from '#net';
import { followStore, type Change, type Queries, type Store } from '../../store/mod.ts';
import { readEdgeEntities, readFabricServices, readFabricTerminators, readIdentities } from './model-rows.ts';
import type { OverlayModel } from './overlay-model.ts';

export interface AttachedModel {
  /** Reads an identity from the store, where another control plane may have just written it. */
  loadIdentity(id: string): Promise<void>;
  /** Stops retrying. Changes of the store still arrive. */
  close(): void;
}

/** Resolves when the model equals the store. Rejects with errors of the store. */
export async function attachModel(
  store: Store,
  model: OverlayModel,
  options: { readonly log?: Log } = {},
): Promise<AttachedModel> {
  const dirty: Dirty = { ...nothing(), all: true };
  const follower = await followStore(
    store,
    {
      what: 'the overlay model',
      note: (changes) => note(dirty, changes),
      read: () => refresh(store.db, model, dirty),
    },
    options.log,
  );
  return {
    loadIdentity(id) {
      dirty.identities.add(id);
      // With its fields of the edge management API, which name its authentication policy.
      dirty.edgeEntities.add(id);
      return follower.readNoted();
    },
    close: () => follower.close(),
  };
}

interface Dirty {
  identities: Set<string>;
  fabricServices: Set<string>;
  fabricTerminators: Set<string>;
  edgeEntities: Set<string>;
  /** Whether everything must be loaded again. */
  all: boolean;
}

function nothing(): Dirty {
  return {
    identities: new Set(),
    fabricServices: new Set(),
    fabricTerminators: new Set(),
    edgeEntities: new Set(),
    all: false,
  };
}

function note(dirty: Dirty, changes: readonly Change[]): void {
  for (const { entity, id } of changes) {
    if (entity === 'identity') dirty.identities.add(id);
    else if (entity === 'fabric-service') dirty.fabricServices.add(id);
    else if (entity === 'fabric-terminator') dirty.fabricTerminators.add(id);
    else if (entity === 'edge-entity') dirty.edgeEntities.add(id);
    else if (entity === 'everything') dirty.all = true;
  }
}

/** Moves the noted changes from `from` to `to`. */
function moveNotes(from: Dirty, to: Dirty): void {
  const kinds = ['identities', 'fabricServices', 'fabricTerminators', 'edgeEntities'] as const;
  for (const kind of kinds) {
    for (const id of from[kind]) to[kind].add(id);
    from[kind].clear();
  }
  to.all ||= from.all;
  from.all = false;
}

/** Loads the dirty rows into the model. Changes noted in the meantime remain for the next call, as all do after a failure. */
async function refresh(db: Queries, model: OverlayModel, dirty: Dirty): Promise<void> {
  const taken = nothing();
  moveNotes(dirty, taken);
  const wanted = (ids: Set<string>): readonly string[] | undefined => (taken.all ? undefined : [...ids]);
  let identities, fabricServices, fabricTerminators, edgeEntities;
  try {
    identities = await readIdentities(db, wanted(taken.identities));
    // Read before their services, so that the services are never older.
    fabricTerminators = await readFabricTerminators(db, wanted(taken.fabricTerminators));
    fabricServices = await readFabricServices(db, wanted(taken.fabricServices));
    edgeEntities = await readEdgeEntities(db, wanted(taken.edgeEntities));
  } catch (error) {
    moveNotes(taken, dirty);
    throw error;
  }
  const gone = (
    ids: Set<string>,
    known: Iterable<{ readonly id: string }>,
    rows: readonly { readonly id: string }[],
  ): string[] => absent(taken.all ? Array.from(known, ({ id }) => id) : [...ids], rows);
  const goneIdentities = gone(taken.identities, model.identities(), identities);
  const goneServices = gone(taken.fabricServices, model.fabricServices(), fabricServices);
  const goneTerminators = gone(taken.fabricTerminators, model.fabricTerminators(), fabricTerminators);
  const goneEntities = gone(taken.edgeEntities, model.edge.records(), edgeEntities);
  for (const id of goneTerminators) model.removeFabricTerminator(id);
  removeTerminatorsOf(model, new Set([...goneServices, ...goneIdentities, ...goneEntities]));
  for (const id of goneServices) model.removeFabricService(id);
  for (const id of goneIdentities) model.removeIdentity(id);
  const set = <T extends { readonly id: string }>(
    kind: string,
    rows: readonly T[],
    take: (row: T) => void,
  ): void => void mapAlone(rows, ({ id }) => `the ${kind} ${id} of the store`, take);
  set('identity', identities, (identity) => model.setIdentity(identity));
  set('fabric service', fabricServices, (service) => model.setFabricService(service));
  set('fabric terminator', fabricTerminators, (terminator) => model.setFabricTerminator(terminator));
  for (const id of goneEntities) model.removeEdgeEntity(id);
  set('entity', edgeEntities, (entity) => model.setEdgeEntity(entity));
}

/** The store deletes them with their service or router, and reports only those. */
function removeTerminatorsOf(model: OverlayModel, gone: ReadonlySet<string>): void {
  if (gone.size === 0) return;
  for (const { id, serviceId, routerId } of [...model.fabricTerminators()]) {
    if (gone.has(serviceId) || gone.has(routerId)) model.removeFabricTerminator(id);
  }
}

function absent(ids: readonly string[], rows: readonly { readonly id: string }[]): string[] {
  const present = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !present.has(id));
}
