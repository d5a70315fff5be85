/** Addresses of domains. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';

export const domainRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'domains',
    validateSearch: searchOf('name', 'status'),
    component: lazyRouteComponent(() => import('./domains-page.tsx'), 'DomainsPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'domains/new',
    component: lazyRouteComponent(() => import('./new-domain-page.tsx'), 'NewDomainPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'domains/$domainId',
    component: lazyRouteComponent(() => import('./domain-page.tsx'), 'DomainPage'),
  }),
] as const;
