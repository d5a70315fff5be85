/** Terminators as their rows in the database, and the columns of a terminator. */
import type { Selectable } from 'kysely';
import { readJsonObject } from '#base/shapes';
import type { PeerData } from '#wire/circuits';
import type { TerminatorKind, TerminatorTable } from '../../store/mod.ts';
import type { JsonObject } from './edge-entity.ts';
import { decodePeerData, encodePeerData } from './peer-data-column.ts';

/** What all kinds have. */
export interface TerminatorPlace {
  readonly id: string;
  readonly serviceId: string;
  readonly routerId: string;
  readonly binding: string;
  readonly address: string;
  readonly instanceId: string;
  readonly cost: number;
  /** 0 default, 1 required, 2 failed. */
  readonly precedence: number;
  readonly peerData: PeerData;
}

/** A terminator of a program that hosts a service. */
export interface StoredTerminator extends TerminatorPlace {
  /** Whether the service belongs to the edge management API; if not, it is a share. */
  readonly isEdge?: boolean | undefined;
  /** The hosting identity. */
  readonly identityId: string;
  readonly createdAtMs: number;
}

/** An address at which a service is reached, and which a router dials with a binding: `transport` with `tcp:127.0.0.1:5432`. */
export type FabricTerminator = TerminatorPlace;

/** One that an administrator made for a service of the edge management API. */
export interface ManagedTerminator extends FabricTerminator {
  readonly tags: JsonObject;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The column that refers to the service. */
export const SERVICE_COLUMNS = {
  share: 'share_id',
  edge: 'entity_id',
  managed: 'entity_id',
  fabric: 'fabric_service_id',
} as const satisfies Record<TerminatorKind, keyof TerminatorTable>;

export type TerminatorRow = Selectable<TerminatorTable>;

export function columnsOf(kind: TerminatorKind, place: TerminatorPlace) {
  return {
    id: place.id,
    kind,
    share_id: null,
    entity_id: null,
    fabric_service_id: null,
    [SERVICE_COLUMNS[kind]]: place.serviceId,
    router_id: place.routerId,
    identity_id: null,
    binding: place.binding,
    address: place.address,
    instance_id: place.instanceId,
    cost: place.cost,
    precedence: place.precedence,
    peer_data: encodePeerData(place.peerData),
  };
}

/** The reverse of `columnsOf`. */
export function placeOf(row: TerminatorRow): TerminatorPlace {
  return {
    id: row.id,
    serviceId: row[SERVICE_COLUMNS[row.kind]]!,
    routerId: row.router_id,
    binding: row.binding,
    address: row.address,
    instanceId: row.instance_id,
    cost: row.cost,
    precedence: row.precedence,
    peerData: decodePeerData(row.peer_data),
  };
}

export function hostedOf(row: TerminatorRow): StoredTerminator {
  return {
    ...placeOf(row),
    isEdge: row.kind === 'edge',
    identityId: row.identity_id!,
    createdAtMs: Number(row.created_at),
  };
}

export function managedOf(row: TerminatorRow): ManagedTerminator {
  return {
    ...placeOf(row),
    tags: readJsonObject(row.tags),
    createdAtMs: Number(row.created_at),
    updatedAtMs: Number(row.updated_at),
  };
}

export function nameOf({ id }: TerminatorRow): string {
  return `the terminator ${id} of the store`;
}
