/** Keeps the catalog of shares equal to the store. Opened after the overlay's model, so that identities come before their shares. */
import type { Log } from '#base';
import { mapAlone } from '#net';
import type { OverlayModel } from '../../overlay/model/mod.ts';
import { followStore, type Change, type Queries, type Store, type StoreFollower } from '../../store/mod.ts';
import { findGuardedShares, guardedSharesAfter } from '../records/share-guard.ts';
import { ShareCatalog } from './share-catalog.ts';

export interface OpenedCatalog extends Pick<StoreFollower, 'close'> {
  readonly catalog: ShareCatalog;
}

const CHUNK = 500;

/** `model` must be attached to the store. Rejects with errors of the store. */
export async function openShareCatalog(store: Store, model: OverlayModel, log?: Log): Promise<OpenedCatalog> {
  const catalog = new ShareCatalog(model);
  const dirty = new DirtyShares();
  const follower = await followStore(
    store,
    {
      what: 'the catalog of shares',
      note: (changes) => dirty.note(changes),
      read: () => refresh({ db: store.db, model, catalog }, dirty),
    },
    log,
  );
  // The model may learn of it later than the store has reported it.
  model.onChange((change) => {
    if (change.type !== 'identity' || !change.removed) return;
    dirty.identities.add(change.id);
    void follower.readNoted();
  });
  return { catalog, close: () => follower.close() };
}

class DirtyShares {
  ids = new Set<string>();
  /** Identities whose grants may be gone. */
  identities = new Set<string>();
  /** Whether every share must be read again. */
  all = true;

  note(changes: readonly Change[]): void {
    for (const { entity, id } of changes) {
      if (entity === 'share') this.ids.add(id);
      else if (entity === 'identity') this.identities.add(id);
      else if (entity === 'frontend' || entity === 'everything') this.all = true;
    }
  }

  /** Returns the ids of the shares that must be read again; undefined: all. Nothing is noted then. */
  take(model: OverlayModel): ReadonlySet<string> | undefined {
    const { ids, identities, all } = this;
    this.ids = new Set();
    this.identities = new Set();
    this.all = false;
    if (all) return undefined;
    // The store takes the grants of a deleted identity away, and reports only the identity.
    for (const identityId of identities) {
      if (model.identity(identityId) !== undefined) continue;
      for (const { id } of model.grantedTo(identityId)) ids.add(id);
    }
    return ids;
  }

  putBack(taken: ReadonlySet<string> | undefined): void {
    if (taken === undefined) this.all = true;
    else for (const id of taken) this.ids.add(id);
  }
}

interface Refreshed {
  readonly db: Queries;
  readonly model: OverlayModel;
  readonly catalog: ShareCatalog;
}

/** Changes noted in the meantime remain for the next call, as all do after a failure. */
async function refresh({ db, model, catalog }: Refreshed, dirty: DirtyShares): Promise<void> {
  const ids = dirty.take(model);
  let shares;
  try {
    shares = ids === undefined ? await everyShare(db) : await sharesOf(db, [...ids]);
  } catch (error) {
    dirty.putBack(ids);
    throw error;
  }
  const present = new Set(shares.map(({ id }) => id));
  const known = ids ?? Array.from(catalog.all(), ({ id }) => id);
  for (const id of [...known].filter((each) => !present.has(each))) catalog.remove(id);
  mapAlone(
    shares,
    ({ id }) => `the share ${id} of the store`,
    (share) => catalog.set(share),
  );
}

/** Reads some at a time, so that no response is large. */
async function sharesOf(db: Queries, ids: readonly string[]) {
  const found = [];
  for (let at = 0; at < ids.length; at += CHUNK)
    found.push(...(await findGuardedShares(db, ids.slice(at, at + CHUNK))));
  return found;
}

async function everyShare(db: Queries) {
  const found = [];
  for (;;) {
    const next = await guardedSharesAfter(db, found.at(-1)?.id ?? '', CHUNK);
    found.push(...next);
    if (next.length < CHUNK) return found;
  }
}
