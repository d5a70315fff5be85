/** The tables of fabric services and their terminators. */
import type { TerminatorStrategy } from '#domain';

/** A fabric service, which routers themselves dial and terminate. */
export interface FabricServiceTable {
  id: string;
  name: string;
  terminator_strategy: TerminatorStrategy;
  created_at: number;
}

/** An address that a router dials for a fabric service. */
export interface FabricTerminatorTable {
  id: string;
  service_id: string;
  router_id: string;
  binding: string;
  address: string;
  instance_id: string;
  cost: number;
  precedence: number;
  /** JSON map of u32 key to base64. */
  peer_data: string;
  created_at: number;
}
