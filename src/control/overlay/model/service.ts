/**
 * The services that identities dial and host. Those of the edge management API say by policies who may; of those that another
 * front door projects into the overlay, the service itself says it.
 */
import type { ManagedService } from './edge-entity.ts';

/** A hosted service: one identity hosts it, and its front door, which projects it, knows what else there is to it. */
export interface ProjectedService {
  readonly id: string;
  /** By which clients of the overlay dial it. */
  readonly name: string;
  /** The only identity that may bind it. */
  readonly hostId: string;
  /** Who may dial it: every gateway, or the identities that `grants` names. */
  readonly openTo: 'gateways' | 'grants';
  readonly grants: readonly string[];
  /** The role attribute without which routers may not use a grant. */
  readonly routerRole: string;
  /** Undefined if only its host knows what it is. */
  readonly endpoint: ServiceEndpoint | undefined;
  /** What clients may read about it. */
  readonly tags: Readonly<Record<string, string>>;
  readonly updatedAtMs: number;
}

/** What tunnelers and tunnel routers need to host or intercept a service. */
export interface ServiceEndpoint {
  readonly protocol: 'tcp' | 'udp';
  /** The port that clients expect, because dialers do not learn that of the server. */
  readonly clientPort: number;
  /** The private server; undefined if only programs of Frontdoor serve it. */
  readonly server: { readonly address: string; readonly port: number } | undefined;
}

/** What identities dial and host. */
export type Service = ProjectedService | ManagedService;

export function isHostedService(service: Service): service is ProjectedService {
  return 'hostId' in service;
}
