/** Terminators in the form of the store: bytes as base64, whole tables page by page. */
import type { PeerData } from '#wire';
import { decodePeerData, encodePeerData } from './peer-data-column.ts';
import type { EdgeTerminatorTable, Queries, TerminatorTable, Touch } from '../../store/mod.ts';

export interface StoredTerminator {
  readonly id: string;
  readonly serviceId: string;
  /** Whether the service belongs to the edge management API; if not, it is a share. */
  readonly isEdge?: boolean | undefined;
  readonly routerId: string;
  /** The hosting identity. */
  readonly identityId: string;
  readonly binding: string;
  readonly address: string;
  readonly instanceId: string;
  readonly peerData: PeerData;
  readonly createdAtMs: number;
  readonly cost: number;
  readonly precedence: number;
}

const CHUNK = 500;

/** Returns every terminator, or the existing ones of `ids`. */
export async function readRows(db: Queries, ids?: readonly string[]): Promise<StoredTerminator[]> {
  const ofShares = db.selectFrom('terminator').selectAll();
  const ofEdge = db.selectFrom('edge_terminator').selectAll();
  if (ids !== undefined) {
    const found: StoredTerminator[] = [];
    for (let at = 0; at < ids.length; at += CHUNK) {
      const some = ids.slice(at, at + CHUNK);
      const rows = await ofShares.where('id', 'in', some).execute();
      found.push(...rows.map(terminatorOf));
      if (rows.length === some.length) continue;
      found.push(...(await ofEdge.where('id', 'in', some).execute()).map(terminatorOf));
    }
    return found;
  }
  return [
    ...(await allRows((after) => ofShares.where('id', '>', after).orderBy('id').limit(CHUNK).execute())),
    ...(await allRows((after) => ofEdge.where('id', '>', after).orderBy('id').limit(CHUNK).execute())),
  ];
}

async function allRows(next: (after: string) => Promise<TerminatorRow[]>): Promise<StoredTerminator[]> {
  const found: StoredTerminator[] = [];
  for (;;) {
    const rows = await next(found.at(-1)?.id ?? '');
    found.push(...rows.map(terminatorOf));
    if (rows.length < CHUNK) return found;
  }
}

/** Returns false if there is a terminator with this id. */
export async function insertRow(trx: Queries, terminator: StoredTerminator): Promise<boolean> {
  const shared = rowOf(terminator);
  const row =
    terminator.isEdge === true
      ? await trx
          .insertInto('edge_terminator')
          .values({ ...shared, service_id: terminator.serviceId })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .returning('id')
          .executeTakeFirst()
      : await trx
          .insertInto('terminator')
          .values({ ...shared, share_id: terminator.serviceId })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .returning('id')
          .executeTakeFirst();
  return row !== undefined;
}

export async function updateRow(
  trx: Queries,
  { id, isEdge, peerData, cost, precedence }: StoredTerminator,
): Promise<void> {
  await trx
    .updateTable(isEdge === true ? 'edge_terminator' : 'terminator')
    .set({ peer_data: encodePeerData(peerData), cost, precedence })
    .where('id', '=', id)
    .execute();
}

export async function deleteRows(trx: Queries, ids: readonly string[], isEdge: boolean): Promise<void> {
  await trx
    .deleteFrom(isEdge ? 'edge_terminator' : 'terminator')
    .where('id', 'in', ids)
    .execute();
}

/** Returns the ids of the rows, which all belonged to the router. */
export async function deleteRowsOf(
  trx: Queries,
  routerId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (const table of ['terminator', 'edge_terminator'] as const) {
    for (let at = 0; at < ids.length; at += CHUNK) {
      const rows = await trx
        .deleteFrom(table)
        .where('id', 'in', ids.slice(at, at + CHUNK))
        .where('router_id', '=', routerId)
        .returning('id')
        .execute();
      deleted.push(...rows.map(({ id }) => id));
    }
  }
  return deleted;
}

/** What clients are shown of a terminator. */
export type ServiceTerminator = Pick<StoredTerminator, 'id' | 'serviceId' | 'routerId' | 'instanceId'>;

/** Returns the terminators of a service in the order of ids. Those of shares are in one table, those of others in two. */
export async function terminatorsOfService(
  db: Queries,
  serviceId: string,
  isShare: boolean,
): Promise<ServiceTerminator[]> {
  const rows = isShare
    ? await db
        .selectFrom('terminator')
        .select(['id', 'instance_id', 'router_id'])
        .where('share_id', '=', serviceId)
        .orderBy('id')
        .execute()
    : await db
        .selectFrom('edge_terminator')
        .select(['id', 'instance_id', 'router_id'])
        .where('service_id', '=', serviceId)
        .unionAll(
          db
            .selectFrom('managed_terminator')
            .select(['id', 'instance_id', 'router_id'])
            .where('service_id', '=', serviceId),
        )
        .orderBy('id')
        .execute();
  return rows.map((row) => ({
    ...{ id: row.id, serviceId, routerId: row.router_id, instanceId: row.instance_id },
  }));
}

/** Returns the terminators of programs that host services of the edge management API, or the one with this id. */
export async function hostedEdgeTerminators(db: Queries, id?: string): Promise<StoredTerminator[]> {
  const all = db.selectFrom('edge_terminator').selectAll();
  const rows = await (id === undefined ? all : all.where('id', '=', id)).execute();
  return rows.map(terminatorOf);
}

export async function changeHostedTerminator(
  trx: Queries,
  touch: Touch,
  { id, cost, precedence }: Pick<StoredTerminator, 'id' | 'cost' | 'precedence'>,
): Promise<void> {
  await trx.updateTable('edge_terminator').set({ cost, precedence }).where('id', '=', id).execute();
  touch('terminator', id);
}

export async function deleteHostedTerminator(trx: Queries, touch: Touch, id: string): Promise<void> {
  await deleteRows(trx, [id], true);
  touch('terminator', id);
}

/** Counts the terminators of services of the edge management API. */
export async function countEdgeTerminators(db: Queries): Promise<number> {
  let sum = 0;
  for (const table of ['edge_terminator', 'managed_terminator'] as const) {
    const query = db.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('count'));
    sum += Number((await query.executeTakeFirstOrThrow()).count);
  }
  return sum;
}

type TerminatorRow = TerminatorTable | EdgeTerminatorTable;

function rowOf(terminator: StoredTerminator): Omit<TerminatorTable, 'share_id'> {
  return {
    id: terminator.id,
    router_id: terminator.routerId,
    identity_id: terminator.identityId,
    binding: terminator.binding,
    address: terminator.address,
    instance_id: terminator.instanceId,
    cost: terminator.cost,
    precedence: terminator.precedence,
    peer_data: encodePeerData(terminator.peerData),
    created_at: terminator.createdAtMs,
  };
}

function terminatorOf(row: TerminatorRow): StoredTerminator {
  const isEdge = 'service_id' in row;
  return {
    id: row.id,
    serviceId: isEdge ? row.service_id : row.share_id,
    isEdge,
    routerId: row.router_id,
    identityId: row.identity_id,
    binding: row.binding,
    address: row.address,
    instanceId: row.instance_id,
    cost: row.cost,
    precedence: row.precedence,
    peerData: decodePeerData(row.peer_data),
    createdAtMs: row.created_at,
  };
}
