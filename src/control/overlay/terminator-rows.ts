/** Terminators in the form of the store: bytes as base64, whole tables page by page. */
import type { PeerData } from '#wire';
import {
  decodePeerData,
  encodePeerData,
  type Queries,
  type TerminatorTable as TerminatorRow,
} from '../store/mod.ts';

export interface StoredTerminator {
  readonly id: string;
  readonly serviceId: string;
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
  const found: StoredTerminator[] = [];
  const all = db.selectFrom('terminator').selectAll();
  if (ids !== undefined) {
    for (let at = 0; at < ids.length; at += CHUNK) {
      const rows = await all.where('id', 'in', ids.slice(at, at + CHUNK)).execute();
      found.push(...rows.map(terminatorOf));
    }
    return found;
  }
  for (;;) {
    const rows = await all
      .where('id', '>', found.at(-1)?.id ?? '')
      .orderBy('id')
      .limit(CHUNK)
      .execute();
    found.push(...rows.map(terminatorOf));
    if (rows.length < CHUNK) return found;
  }
}

export function rowOf(terminator: StoredTerminator): TerminatorRow {
  return {
    id: terminator.id,
    share_id: terminator.serviceId,
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
  return {
    id: row.id,
    serviceId: row.share_id,
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
