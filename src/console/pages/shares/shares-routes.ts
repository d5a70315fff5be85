/** Addresses of shares. The pages of one share have a common frame, which other folders add pages to. */
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { pageRoute } from '../../parts/page-route.ts';

export const shareRoute = pageRoute(
  frontdoorRoute,
  'shares/$token',
  () => import('./share-frame.tsx'),
  'ShareFrame',
);

/** Pages inside the frame of one share. */
export const sharePageRoutes = [
  pageRoute(shareRoute, '/', () => import('./share-overview-page.tsx'), 'ShareOverviewPage'),
  pageRoute(shareRoute, 'traffic', () => import('./share-traffic-page.tsx'), 'ShareTrafficPage', [
    'duration',
    'view',
  ]),
  pageRoute(shareRoute, 'access', () => import('../access/access-page.tsx'), 'AccessPage'),
  pageRoute(shareRoute, 'service', () => import('../service/service-page.tsx'), 'ServicePage'),
  pageRoute(shareRoute, 'domains', () => import('../domains/share-domains-page.tsx'), 'ShareDomainsPage'),
  pageRoute(shareRoute, 'settings', () => import('./share-settings-page.tsx'), 'ShareSettingsPage'),
] as const;

export const shareRoutes = [
  pageRoute(frontdoorRoute, 'shares', () => import('./shares-page.tsx'), 'SharesPage', [
    'name',
    'status',
    'environmentId',
    'providerId',
    'policyId',
  ]),
  pageRoute(frontdoorRoute, 'shares/new', () => import('./new-share-page.tsx'), 'NewSharePage', [
    'environmentId',
  ]),
] as const;
