/** Shares in the form of the Management API: the stored record with its measured state. */
import { definedFields } from '#base';
import type { ShareAnswer } from '#contract/schemas';
import type { Share } from '#domain';
import { accessSummary, type AccessSummary, type SummedProvider } from '#domain/access';
import { presentedCertificate } from '#domain/upstream';
import { storedShareOf, type FrontendUrls } from '../records/share-view.ts';
import type { KnownProvider } from '../logins/provider-directory.ts';
import type { ServiceStatus } from '../../overlay/model/mod.ts';
import { isoTime, type ApiParts } from './call.ts';

/** Agents reconnect within this time. Shown as the next try for a share whose agent is away. */
const OFFLINE_RETRY_MS = 15_000;

type StatusParts = Pick<ApiParts, 'status' | 'clock'>;

export function shareAnswerOf(parts: StatusParts & FrontendUrls & AccessParts, share: Share): ShareAnswer {
  const { state, failure } = shareStatusOf(parts, share);
  const { createdAt, ...stored } = storedShareOf(parts, share);
  return definedFields({
    ...stored,
    access: shareAccessOf(parts, share),
    status: state,
    failure: failure && probeFailureAnswer(failure),
    createdAt,
  });
}

function probeFailureAnswer(failure: NonNullable<ServiceStatus['failure']>): ShareAnswer['failure'] {
  const { count, lastError, nextRetry } = failure;
  const refused = presentedCertificate(lastError);
  return definedFields({ count, lastError, presentedCertificate: refused, nextRetry });
}

type AccessParts = Pick<ApiParts, 'catalog' | 'providers' | 'clock'>;

/** Rules and providers come from memory, so that a list needs no further statement for each of its shares. */
function shareAccessOf({ catalog, providers, clock }: AccessParts, share: Share): AccessSummary {
  const { id, shareMode, grants, frontends, customHosts, authProviderIds } = share;
  const own = frontends.map(({ host }) => ({ host, authProviderIds }));
  // Guards of custom frontends guard no stream, and their names are none of its share.
  const others =
    share.ingress === null ? customHosts : customHosts.filter((each) => each.authProviderIds.length === 0);
  const names = [...own, ...others].map(({ host, authProviderIds: ids }) => ({
    host,
    providers: ids.map((providerId) => summedProvider(providers.byId(providerId))),
  }));
  const rules = catalog.get(id)?.rules ?? null;
  return accessSummary(
    { grants: shareMode === 'private' ? grants.length : undefined, names, rules },
    clock.nowMs(),
  );
}

function summedProvider(provider: KnownProvider | undefined): SummedProvider | undefined {
  if (provider === undefined) return undefined;
  const { name, type, enabled, apiKeys } = provider;
  return { name, type, enabled, keys: apiKeys?.keys.length ?? 0 };
}

/** Returns the measured status. A share whose agent is away has failed, whatever was measured before. */
export function shareStatusOf(
  { status, clock }: StatusParts,
  share: Pick<Share, 'id' | 'environmentId'>,
): ServiceStatus {
  const measured = status.service(share.id);
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
