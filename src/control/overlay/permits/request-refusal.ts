/** The answer to a request that was judged and refused, with what belongs in the audit trail. */
import type { Service } from '../model/service.ts';

export interface RequestRefusal {
  readonly text: string;
  readonly code: number;
  readonly retryHint: number;
  readonly audit: {
    readonly identityId: string | undefined;
    readonly reason: string;
    readonly share: string | undefined;
  };
}

export function refusalOf(verdict: {
  readonly text: string;
  readonly code: number;
  readonly retryHint: number;
  readonly reason: string;
  readonly identityId: string | undefined;
  readonly service?: Service | undefined;
}): RequestRefusal {
  const { text, code, retryHint, reason, identityId, service } = verdict;
  return { text, code, retryHint, audit: { identityId, reason, share: service?.name } };
}
