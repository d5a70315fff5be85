/** What a circuit can end at: a share's terminator, or a fabric service's. */
import type { StoredTerminator } from './terminator-rows.ts';

export interface HostTerminator extends Omit<StoredTerminator, 'identityId' | 'createdAtMs'> {
  /** The hosting identity; undefined for a fabric service, which the router itself reaches. */
  readonly identityId: string | undefined;
  /** Tells answers about this terminator from answers about an older one with its id. */
  readonly marker: bigint;
  /** False after its host said that the service does not work. Not stored: the host says it again. */
  readonly isHealthy: boolean;
}
