/** A terminator of a share, a fabric service or a service of the edge management API, at which a circuit can end. */
import type { StoredTerminator } from './terminator-store.ts';

export interface HostTerminator extends Omit<StoredTerminator, 'identityId' | 'createdAtMs'> {
  /** The hosting identity; undefined for an address that the router itself reaches. */
  readonly identityId: string | undefined;
  /** Distinguishes responses about this terminator from those about an older one with the same id. */
  readonly marker: bigint;
  /** False after its host reported that the service does not work. Not stored, because hosts report it again. */
  readonly isHealthy: boolean;
}
