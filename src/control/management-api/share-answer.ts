/** Shares in the form of the Management API: the stored record with its measured state. */
import { definedFields } from '#base';
import type { ShareAnswer } from '#contract';
import { storedShareOf, type FrontendUrls } from '../audit/mod.ts';
import type { ShareStatus } from '../model/mod.ts';
import type { ShareRecord } from '../store/mod.ts';
import { isoTime, type ApiParts } from './call.ts';

/** Agents reconnect within this time. Shown as the next try for a share whose agent is away. */
const OFFLINE_RETRY_MS = 15_000;

type StatusParts = Pick<ApiParts, 'status' | 'clock'>;

export function shareAnswerOf(parts: StatusParts & FrontendUrls, share: ShareRecord): ShareAnswer {
  const { state, failure } = shareStatusOf(parts, share);
  const { createdAt, ...stored } = storedShareOf(parts, share);
  return definedFields({ ...stored, status: state, failure, createdAt });
}

/** Returns the measured status. A share whose agent is away has failed, whatever was measured before. */
export function shareStatusOf(
  { status, clock }: StatusParts,
  share: Pick<ShareRecord, 'id' | 'environmentId'>,
): ShareStatus {
  const measured = status.share(share.id);
  if (measured.state === 'FAILED')
    return { state: 'FAILED', failure: measured.failure ?? unknownFailure(clock.nowMs()) };
  if (status.isConnected(share.environmentId)) return { state: measured.state };
  return {
    state: 'FAILED',
    failure: { ...unknownFailure(clock.nowMs()), lastError: 'the agent is not connected' },
  };
}

function unknownFailure(nowMs: number) {
  return { count: 1, lastError: 'the last probe failed', nextRetry: isoTime(nowMs + OFFLINE_RETRY_MS) };
}
