/** A stored share in the form of the Management API's responses, for audit events. */
import { fieldsOf } from '#base';
import { BACKEND_MODE_TABLE, ingressHostsOf, type Share } from '#domain';
import { shareSchema, type ShareAnswer } from '#contract/schemas';

export interface FrontendUrls {
  /** Returns the URLs under which gateways serve a host. Called for each view. */
  readonly frontendUrls: (host: string) => readonly string[];
}

/** Without measured fields, with the frontdoor that the share belongs to. */
export function shareRecordView(urls: FrontendUrls, share: Share) {
  return { frontdoorId: share.frontdoorId, ...storedShareOf(urls, share) };
}

/** The fields that shares and answers have in common, and those that are derived from the record. */
export function storedShareOf(
  urls: FrontendUrls,
  share: Share,
): Omit<ShareAnswer, 'access' | 'status' | 'failure'> {
  return fieldsOf(shareSchema, {
    ...share,
    frontendIds: share.frontends.map(({ id }) => id),
    frontendEndpoints: frontendEndpointsOf(urls, share),
    backendEndpoint: share.target,
    authProviderIds: [...share.authProviderIds],
    policyId: share.accessPolicyId,
    grants: [...share.grants],
    createdAt: new Date(share.createdAtMs).toISOString(),
  });
}

export function frontendEndpointsOf(
  { frontendUrls }: FrontendUrls,
  share: Pick<Share, 'frontends' | 'customHosts' | 'backendMode' | 'ingress' | 'ingressPort'>,
): string[] {
  const { ingress, ingressPort } = share;
  const scheme = BACKEND_MODE_TABLE[share.backendMode].speaks === 'datagrams' ? 'udp' : 'tcp';
  if (ingress === 'port') return ingressHostsOf(share).map((host) => `${scheme}://${host}:${ingressPort}`);
  if (ingress !== null)
    return ingressHostsOf(share).map((host) => `tls://${host}:${securePort(frontendUrls(host))}`);
  return [...share.frontends, ...share.customHosts].flatMap(({ host }) => frontendUrls(host));
}

const HTTPS_PORT = 443;

/** The port of HTTPS at the gateways, as the addresses of HTTP shares have it. */
function securePort(urls: readonly string[]): number {
  const secure = urls.find((url) => url.startsWith('https:'));
  return Number(secure === undefined ? HTTPS_PORT : new URL(secure).port || HTTPS_PORT);
}
