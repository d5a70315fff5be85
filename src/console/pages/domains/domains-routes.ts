/** Addresses of domains. */
import { createRoute } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { laterPage } from '../../parts/later-page.tsx';
import { searchOf } from '../../parts/search-state.tsx';

export const domainRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'domains',
    validateSearch: searchOf('name', 'status'),
    component: laterPage(() => import('./domains-page.tsx'), 'DomainsPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'domains/new',
    component: laterPage(() => import('./new-domain-page.tsx'), 'NewDomainPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'domains/$domainId',
    component: laterPage(() => import('./domain-page.tsx'), 'DomainPage'),
  }),
] as const;
