/** The tables of fabric services, and of the terminators of all services. */
import type { Generated } from 'kysely';
import type { TerminatorStrategy } from '#domain';

/** A fabric service, which routers themselves dial and terminate. */
export interface FabricServiceTable {
  id: string;
  name: string;
  terminator_strategy: TerminatorStrategy;
  created_at: number;
}

/**
 * `share`, `edge`: a program hosts a share or a service of the edge management API; `managed`, `fabric`: an address that a
 * router dials for a service of that API or of the fabric.
 */
export type TerminatorKind = 'share' | 'edge' | 'managed' | 'fabric';

/** Where a service is reached: the end of its circuits. */
export interface TerminatorTable {
  /** Chosen by the router for a program that hosts the service. */
  id: string;
  kind: TerminatorKind;
  /** For `share`; null for others. */
  share_id: string | null;
  /** For `edge` and `managed`; null for others. */
  entity_id: string | null;
  /** For `fabric`; null for others. */
  fabric_service_id: string | null;
  router_id: string;
  /** The hosting identity; null for an address that a router dials. */
  identity_id: string | null;
  binding: string;
  address: string;
  instance_id: string;
  cost: number;
  precedence: number;
  /** JSON map of u32 key to base64. */
  peer_data: string;
  /** JSON object. */
  tags: Generated<string>;
  created_at: number;
  /** When an administrator last changed it; null for other kinds than `managed`. */
  updated_at: Generated<number | null>;
}
