/** A stored share in the form of the Management API's responses, for audit events. */
import type { Share } from '#domain';
import type { ShareAnswer } from '#contract';

export interface FrontendUrls {
  /** Returns the URLs under which gateways serve a host. Called for each view. */
  readonly frontendUrls: (host: string) => readonly string[];
}

/** Without measured fields, with the frontdoor that the share belongs to. */
export function shareRecordView(urls: FrontendUrls, share: Share) {
  return { frontdoorId: share.frontdoorId, ...storedShareOf(urls, share) };
}

export function storedShareOf(
  urls: FrontendUrls,
  share: Share,
): Omit<ShareAnswer, 'access' | 'status' | 'failure'> {
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
  share: Pick<Share, 'frontends' | 'customHosts'>,
): string[] {
  return [...share.frontends, ...share.customHosts].flatMap(({ host }) => frontendUrls(host));
}
