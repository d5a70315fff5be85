/** Addresses of domains. */
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { pageRoute } from '../../parts/page-route.ts';

export const domainRoutes = [
  pageRoute(frontdoorRoute, 'domains', () => import('./domains-page.tsx'), 'DomainsPage', ['name', 'status']),
  pageRoute(frontdoorRoute, 'domains/new', () => import('./new-domain-page.tsx'), 'NewDomainPage'),
  pageRoute(frontdoorRoute, 'domains/$domainId', () => import('./domain-page.tsx'), 'DomainPage'),
] as const;
