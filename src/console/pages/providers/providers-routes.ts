/** Addresses of the log-ins of visitors. */
import { createRoute } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';
import { Unbuilt } from '../../parts/unbuilt.tsx';

export const providerRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'providers',
    validateSearch: searchOf('name', 'type'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'providers/new',
    validateSearch: searchOf('type'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'providers/$providerId',
    validateSearch: searchOf('text'),
    component: Unbuilt,
  }),
] as const;
