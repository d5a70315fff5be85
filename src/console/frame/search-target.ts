/** The page of a resource that a search found. */
import type { SearchResultAnswer } from '#contract/schemas';

type Result = SearchResultAnswer['results'][number];

export function pageOf({ kind, id, frontdoorId }: Result): string {
  const safeId = encodeURIComponent(id);
  const base = `/frontdoors/${frontdoorId ?? safeId}`;
  switch (kind) {
    case 'frontdoor':
      return base;
    case 'share':
      return `${base}/shares/${safeId}`;
    case 'environment':
      return `${base}/agents/${safeId}`;
    case 'auth-provider':
      return `${base}/providers/${safeId}`;
    case 'custom-frontend':
      return `${base}/domains/${safeId}`;
    case 'organization':
      return `/settings/organizations/${safeId}`;
    case 'router':
      return `/mesh/routers/${safeId}`;
    case 'gateway':
      return `/mesh/gateways/${safeId}`;
    case 'fabric-service':
      return `/mesh/services/${safeId}`;
    default:
      return '/';
  }
}
