/** The page of a resource that a search found. */
import type { SearchResultAnswer } from '#contract/schemas';

type Result = SearchResultAnswer['results'][number];

export interface SearchPlace {
  readonly to: string;
  /** Fields of the address. */
  readonly search?: Readonly<Record<string, string>>;
}

export function placeOf({ kind, id, frontdoorId }: Pick<Result, 'kind' | 'id' | 'frontdoorId'>): SearchPlace {
  const safeId = encodeURIComponent(id);
  const base = `/frontdoors/${frontdoorId ?? safeId}`;
  switch (kind) {
    case 'frontdoor':
      return { to: base };
    case 'share':
      return { to: `${base}/shares/${safeId}` };
    case 'environment':
      return { to: `${base}/agents/${safeId}` };
    case 'auth-provider':
      return { to: `${base}/providers/${safeId}` };
    case 'policy':
      return { to: `${base}/policies/${safeId}` };
    case 'custom-frontend':
      return { to: `${base}/domains/${safeId}` };
    case 'failure':
      return { to: `${base}/failures/${safeId}` };
    case 'organization':
      return { to: `/settings/organizations/${safeId}` };
    case 'person':
      return { to: `/settings/people/${safeId}` };
    case 'api-account':
      return { to: `/settings/accounts/${safeId}` };
    case 'oauth-client':
      return { to: `/settings/clients/${safeId}` };
    case 'router':
      return { to: `/mesh/routers/${safeId}` };
    case 'gateway':
      return { to: `/mesh/gateways/${safeId}` };
    case 'fabric-service':
      return { to: `/mesh/services/${safeId}` };
    case 'unrouted-failure':
      return { to: `/mesh/failures/${safeId}` };
    case 'audit-event':
      // The list has the event alone.
      return { to: '/activity', search: { text: id } };
    default:
      return { to: '/' };
  }
}
