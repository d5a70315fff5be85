/** A share as it is stored, in the form of the Management API's answers: what audit events about it hold. */
import type { ShareAnswer } from '#contract';
import type { ShareRecord } from '../store/mod.ts';

export interface FrontendUrls {
  /** URLs under which gateways serve a host; asked whenever a share is shown. */
  readonly frontendUrls: (host: string) => readonly string[];
}

/** Without what is measured, with the frontdoor that its token is of. */
export function shareRecordView(urls: FrontendUrls, share: ShareRecord) {
  return { frontdoorId: share.frontdoorId, ...storedShareOf(urls, share) };
}

export function storedShareOf(
  urls: FrontendUrls,
  share: ShareRecord,
): Omit<ShareAnswer, 'status' | 'failure'> {
  return {
    token: share.token,
    name: share.name,
    shareMode: share.shareMode,
    backendMode: share.backendMode,
    reserved: share.reserved,
    environmentId: share.environmentId,
    target: share.target,
    frontendIds: share.frontends.map(({ id }) => id),
    frontendEndpoints: frontendEndpointsOf(urls, share),
    backendEndpoint: share.target,
    authProviderIds: [...share.authProviderIds],
    grants: [...share.grants],
    createdAt: new Date(share.createdAtMs).toISOString(),
  };
}

export function frontendEndpointsOf(
  { frontendUrls }: FrontendUrls,
  share: Pick<ShareRecord, 'frontends' | 'customHosts'>,
): string[] {
  return [...share.frontends, ...share.customHosts].flatMap(({ host }) => frontendUrls(host));
}
