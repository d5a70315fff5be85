/** Reads the rows of the overlay's model from the store: all of them, or those of some ids. */
import type { EdgeEntityRecord } from '../records/edge-entity.ts';
import { edgeEntitiesAfter, findEdgeEntities } from '../records/edge-entity-store.ts';
import {
  fabricServicesAfter,
  findFabricServices,
  type FabricServiceRecord,
} from '../records/fabric-service-store.ts';
import {
  dialedTerminatorsAfter,
  findDialedTerminators,
  type FabricTerminator,
} from '../records/terminator-store.ts';
import type { Queries } from '../../store/mod.ts';
import type { FabricService, Identity } from './overlay-model.ts';

const CHUNK = 500;

/** Without ids, returns all. */
export async function readIdentities(db: Queries, ids?: readonly string[]): Promise<Identity[]> {
  const rows = () =>
    db.selectFrom('identity').select(['id', 'kind', 'name', 'frontdoor_id', 'agent_version']);
  return read(
    ids,
    async (after) =>
      withCertificates(db, await rows().where('id', '>', after).orderBy('id').limit(CHUNK).execute()),
    async (some) => withCertificates(db, await rows().where('id', 'in', some).execute()),
  );
}

export async function readFabricServices(db: Queries, ids?: readonly string[]): Promise<FabricService[]> {
  const records = await read(
    ids,
    (after) => fabricServicesAfter(db, after, CHUNK),
    (some) => findFabricServices(db, some),
  );
  return records.map(fabricServiceOf);
}

/** Reads terminators of services of the fabric, and those that administrators made for services of the edge management API. */
export async function readFabricTerminators(
  db: Queries,
  ids?: readonly string[],
): Promise<FabricTerminator[]> {
  return read(
    ids,
    (after) => dialedTerminatorsAfter(db, after, CHUNK),
    (some) => findDialedTerminators(db, some),
  );
}

export async function readEdgeEntities(db: Queries, ids?: readonly string[]): Promise<EdgeEntityRecord[]> {
  return read(
    ids,
    (after) => edgeEntitiesAfter(db, after, CHUNK),
    (some) => findEdgeEntities(db, some),
  );
}

function fabricServiceOf({ id, name, terminatorStrategy }: FabricServiceRecord): FabricService {
  return { id, name, terminatorStrategy };
}

interface IdentityRow {
  readonly id: string;
  readonly kind: Identity['kind'];
  readonly name: string;
  readonly frontdoor_id: string | null;
  readonly agent_version: string | null;
}

async function withCertificates(db: Queries, rows: readonly IdentityRow[]): Promise<Identity[]> {
  if (rows.length === 0) return [];
  const certificates = await db
    .selectFrom('certificate')
    .select(['fingerprint', 'identity_id', 'authority_id'])
    .where(
      'identity_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('created_at')
    .execute();
  const closed = await closedAuthorities(
    db,
    certificates.flatMap(({ authority_id }) => authority_id ?? []),
  );
  const usable = certificates.filter(({ authority_id }) => !closed.has(authority_id));
  const fingerprintsOf = Map.groupBy(usable, (certificate) => certificate.identity_id);
  return rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    name: row.name,
    ownerId: row.frontdoor_id,
    agentVersion: row.agent_version,
    fingerprints: (fingerprintsOf.get(row.id) ?? []).map(({ fingerprint }) => fingerprint),
  }));
}

/** Returns those authorities of other parties whose certificates do not log in. A change of one touches its identities. */
async function closedAuthorities(db: Queries, ids: readonly string[]): Promise<ReadonlySet<string | null>> {
  const closed = new Set<string | null>(ids);
  if (closed.size === 0) return closed;
  for (const { id, data } of await findEdgeEntities(db, [...new Set(ids)]))
    if (data['isAuthEnabled'] === true) closed.delete(id);
  return closed;
}

/** Reads `CHUNK` rows at a time, so that no response is large; all rows in the order of ids. */
async function read<T extends { readonly id: string }>(
  ids: readonly string[] | undefined,
  page: (after: string) => Promise<T[]>,
  some: (ids: readonly string[]) => Promise<T[]>,
): Promise<T[]> {
  const whole: T[] = [];
  if (ids !== undefined) {
    for (let at = 0; at < ids.length; at += CHUNK) whole.push(...(await some(ids.slice(at, at + CHUNK))));
    return whole;
  }
  for (;;) {
    const next = await page(whole.at(-1)?.id ?? '');
    whole.push(...next);
    if (next.length < CHUNK) return whole;
  }
}
