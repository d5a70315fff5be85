/** Shares in the form of the Management API: the stored record with its measured state. */
import { definedFields } from '#base';
import type { ShareAnswer } from '#contract';
import { storedShareOf, type FrontendUrls } from '../audit/mod.ts';
import type { Service, ShareState, ShareStatus } from '../model/mod.ts';
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

/**
 * Returns a function that gives the state of many shares, each as `shareStatusOf` returns it. An environment is looked at once,
 * because one that is away has all its shares looked at.
 */
export function shareStates({
  status,
}: Pick<ApiParts, 'status'>): (share: Pick<Service, 'id' | 'environmentId'>) => ShareState {
  const isConnected = new Map<string, boolean>();
  return ({ id, environmentId }) => {
    const known = isConnected.get(environmentId) ?? status.isConnected(environmentId);
    isConnected.set(environmentId, known);
    return known ? status.share(id).state : 'FAILED';
  };
}

function unknownFailure(nowMs: number) {
  return { count: 1, lastError: 'the last probe failed', nextRetry: isoTime(nowMs + OFFLINE_RETRY_MS) };
}
