/** Addresses of the log-ins of visitors. */
import { createRoute } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { laterPage } from '../../parts/later-page.tsx';
import { searchOf } from '../../parts/search-state.tsx';

export const providerRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'providers',
    validateSearch: searchOf('name', 'type', 'enabled'),
    component: laterPage(() => import('./providers-page.tsx'), 'ProvidersPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'providers/new',
    validateSearch: searchOf('type'),
    component: laterPage(() => import('./new-provider-page.tsx'), 'NewProviderPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'providers/$providerId',
    validateSearch: searchOf('email'),
    component: laterPage(() => import('./provider-page.tsx'), 'ProviderPage'),
  }),
] as const;
