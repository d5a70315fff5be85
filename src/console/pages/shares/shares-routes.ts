/** Addresses of shares. The pages of one share have a common frame, which other folders add pages to. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';

export const shareRoute = createRoute({
  getParentRoute: () => frontdoorRoute,
  path: 'shares/$token',
  component: lazyRouteComponent(() => import('./share-frame.tsx'), 'ShareFrame'),
});

/** Pages inside the frame of one share. */
export const sharePageRoutes = [
  createRoute({
    getParentRoute: () => shareRoute,
    path: '/',
    component: lazyRouteComponent(() => import('./share-overview-page.tsx'), 'ShareOverviewPage'),
  }),
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'traffic',
    validateSearch: searchOf('duration', 'view'),
    component: lazyRouteComponent(() => import('./share-traffic-page.tsx'), 'ShareTrafficPage'),
  }),
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'settings',
    component: lazyRouteComponent(() => import('./share-settings-page.tsx'), 'ShareSettingsPage'),
  }),
] as const;

export const shareRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'shares',
    validateSearch: searchOf('name', 'status', 'environmentId', 'providerId'),
    component: lazyRouteComponent(() => import('./shares-page.tsx'), 'SharesPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'shares/new',
    validateSearch: searchOf('environmentId'),
    component: lazyRouteComponent(() => import('./new-share-page.tsx'), 'NewSharePage'),
  }),
] as const;
