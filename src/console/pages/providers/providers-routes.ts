/** Addresses of the log-ins of visitors. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';

export const providerRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'providers',
    validateSearch: searchOf('name', 'type', 'enabled'),
    component: lazyRouteComponent(() => import('./providers-page.tsx'), 'ProvidersPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'providers/new',
    validateSearch: searchOf('type'),
    component: lazyRouteComponent(() => import('./new-provider-page.tsx'), 'NewProviderPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'providers/$providerId',
    validateSearch: searchOf('text'),
    component: lazyRouteComponent(() => import('./provider-page.tsx'), 'ProviderPage'),
  }),
] as const;
