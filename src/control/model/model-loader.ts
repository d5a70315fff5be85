/**
 * Keeps the overlay's model equal to the store: everything at start, and after each commit the rows that it touched.
 * It runs as a store listener, so that a write is in effect when it is acknowledged. When the store is away, what is
 * not yet read again is kept and read later.
 */
import { BackOff, messageOf, silentLog, type Log } from '#base';
import { findShares, shareRecordsOf, type ShareRecord } from '../store/share-record.ts';
import type { Change, Queries, Store } from '../store/store.ts';
import type { Identity, OverlayModel, Service } from './overlay-model.ts';

const CHUNK = 500;

export interface AttachedModel {
  /** Stops trying again; changes of the store still arrive. */
  close(): void;
}

/** Returns when the model holds what the store holds. Errors: those of the store. */
export async function attachModel(
  store: Store,
  model: OverlayModel,
  options: { readonly log?: Log } = {},
): Promise<AttachedModel> {
  const log = options.log ?? silentLog;
  const backOff = new BackOff({ minMs: 200, maxMs: 5_000, factor: 2 });
  const dirty: Dirty = { identities: new Set(), shares: new Set(), all: true };
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let reading: Promise<void> = Promise.resolve();

  const read = async (): Promise<void> => {
    try {
      await refresh(store.db, model, dirty);
      backOff.reset();
    } catch (error) {
      log.error(
        { cause: messageOf(error) },
        'the overlay model could not be read from the store; trying again',
      );
      if (!closed) {
        timer ??= setTimeout(() => {
          timer = undefined;
          reading = reading.then(read);
        }, backOff.next()).unref();
      }
    }
  };

  const loaded = Promise.withResolvers<void>();
  reading = loaded.promise;
  store.onChange((changes) => {
    note(dirty, changes);
    reading = reading.then(read);
    return reading;
  });
  try {
    await refresh(store.db, model, dirty);
  } finally {
    loaded.resolve();
  }
  return {
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

interface Dirty {
  identities: Set<string>;
  shares: Set<string>;
  /** Everything is to be read again. */
  all: boolean;
}

function note(dirty: Dirty, changes: readonly Change[]): void {
  for (const { entity, id } of changes) {
    if (entity === 'identity') dirty.identities.add(id);
    else if (entity === 'share') dirty.shares.add(id);
    else if (entity === 'frontend' || entity === 'everything') dirty.all = true;
  }
}

/** Reads what is dirty into the model. Changes noted meanwhile stay for the next time, as all do when it fails. */
async function refresh(db: Queries, model: OverlayModel, dirty: Dirty): Promise<void> {
  const { all } = dirty;
  const identityIds = [...dirty.identities];
  const shareIds = [...dirty.shares];
  dirty.identities.clear();
  dirty.shares.clear();
  dirty.all = false;
  let identities: Identity[];
  let shares: ShareRecord[];
  try {
    identities = all ? await allIdentities(db) : await someIdentities(db, identityIds);
    shares = all ? await allShares(db) : await someShares(db, shareIds);
  } catch (error) {
    for (const id of identityIds) dirty.identities.add(id);
    for (const id of shareIds) dirty.shares.add(id);
    dirty.all ||= all;
    throw error;
  }
  const goneShares = absent(all ? [...model.services()].map(({ id }) => id) : shareIds, shares);
  const goneIdentities = absent(all ? [...model.identities()].map(({ id }) => id) : identityIds, identities);
  for (const id of goneShares) model.removeService(id);
  for (const id of goneIdentities) model.removeIdentity(id);
  for (const identity of identities) model.setIdentity(identity);
  for (const share of shares) model.setService(serviceOf(share));
}

function absent(ids: readonly string[], rows: readonly { readonly id: string }[]): string[] {
  const present = new Set(rows.map(({ id }) => id));
  return ids.filter((id) => !present.has(id));
}

export function serviceOf(share: ShareRecord): Service {
  return {
    id: share.id,
    name: share.token,
    frontdoorId: share.frontdoorId,
    environmentId: share.environmentId,
    shareMode: share.shareMode,
    backendMode: share.backendMode,
    target: share.target,
    targetByAgent: share.targetByAgent,
    epoch: share.epoch,
    grants: share.grants,
    hosts: share.frontends.map(({ host }) => host),
    authProviderIds: share.authProviderIds,
    updatedAtMs: share.updatedAtMs,
  };
}

async function allIdentities(db: Queries): Promise<Identity[]> {
  return pages(async (after) =>
    withCertificates(db, await identityRows(db).where('id', '>', after).orderBy('id').limit(CHUNK).execute()),
  );
}

async function allShares(db: Queries): Promise<ShareRecord[]> {
  return pages(async (after) => {
    const rows = await db
      .selectFrom('share')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(CHUNK)
      .execute();
    return shareRecordsOf(db, rows);
  });
}

async function someIdentities(db: Queries, ids: readonly string[]): Promise<Identity[]> {
  return chunks(ids, async (some) =>
    withCertificates(db, await identityRows(db).where('id', 'in', some).execute()),
  );
}

async function someShares(db: Queries, ids: readonly string[]): Promise<ShareRecord[]> {
  return chunks(ids, (some) => findShares(db, some));
}

function identityRows(db: Queries) {
  return db.selectFrom('identity').select(['id', 'kind', 'name', 'frontdoor_id']);
}

type IdentityRow = Awaited<ReturnType<ReturnType<typeof identityRows>['execute']>>[number];

async function withCertificates(db: Queries, rows: readonly IdentityRow[]): Promise<Identity[]> {
  if (rows.length === 0) return [];
  const certificates = await db
    .selectFrom('certificate')
    .select(['fingerprint', 'identity_id'])
    .where(
      'identity_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('created_at')
    .execute();
  const fingerprintsOf = Map.groupBy(certificates, (certificate) => certificate.identity_id);
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    name: row.name,
    frontdoorId: row.frontdoor_id,
    fingerprints: (fingerprintsOf.get(row.id) ?? []).map(({ fingerprint }) => fingerprint),
  }));
}

/** Every row, `CHUNK` at a time in the order of ids, so that no answer is large. */
async function pages<T extends { readonly id: string }>(page: (after: string) => Promise<T[]>): Promise<T[]> {
  const whole: T[] = [];
  for (;;) {
    const some = await page(whole.at(-1)?.id ?? '');
    whole.push(...some);
    if (some.length < CHUNK) return whole;
  }
}

async function chunks<T>(
  ids: readonly string[],
  read: (some: readonly string[]) => Promise<T[]>,
): Promise<T[]> {
  const whole: T[] = [];
  for (let at = 0; at < ids.length; at += CHUNK) whole.push(...(await read(ids.slice(at, at + CHUNK))));
  return whole;
}
