/** Addresses of domains. */
import { createRoute } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';
import { Unbuilt } from '../../parts/unbuilt.tsx';

export const domainRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'domains',
    validateSearch: searchOf('name', 'status'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'domains/new',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'domains/$domainId',
    component: Unbuilt,
  }),
] as const;
