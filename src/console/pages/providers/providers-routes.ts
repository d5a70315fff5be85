/** Addresses of the log-ins of visitors. */
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { pageRoute } from '../../parts/page-route.ts';

export const providerRoutes = [
  pageRoute(frontdoorRoute, 'providers', () => import('./providers-page.tsx'), 'ProvidersPage', [
    'name',
    'type',
    'enabled',
  ]),
  pageRoute(frontdoorRoute, 'providers/new', () => import('./new-provider-page.tsx'), 'NewProviderPage', [
    'type',
    'guide',
  ]),
  pageRoute(frontdoorRoute, 'providers/$providerId', () => import('./provider-page.tsx'), 'ProviderPage', [
    'email',
  ]),
] as const;
