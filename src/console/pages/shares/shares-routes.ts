/** Addresses of shares. The pages of one share have a common frame, which other folders add pages to. */
import { createRoute } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { laterPage } from '../../parts/later-page.tsx';
import { searchOf } from '../../parts/search-state.tsx';

export const shareRoute = createRoute({
  getParentRoute: () => frontdoorRoute,
  path: 'shares/$token',
  component: laterPage(() => import('./share-frame.tsx'), 'ShareFrame'),
});

/** Pages inside the frame of one share. */
export const sharePageRoutes = [
  createRoute({
    getParentRoute: () => shareRoute,
    path: '/',
    component: laterPage(() => import('./share-overview-page.tsx'), 'ShareOverviewPage'),
  }),
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'traffic',
    validateSearch: searchOf('duration', 'view'),
    component: laterPage(() => import('./share-traffic-page.tsx'), 'ShareTrafficPage'),
  }),
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'settings',
    component: laterPage(() => import('./share-settings-page.tsx'), 'ShareSettingsPage'),
  }),
] as const;

export const shareRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'shares',
    validateSearch: searchOf('name', 'status', 'environmentId', 'providerId'),
    component: laterPage(() => import('./shares-page.tsx'), 'SharesPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'shares/new',
    validateSearch: searchOf('environmentId'),
    component: laterPage(() => import('./new-share-page.tsx'), 'NewSharePage'),
  }),
] as const;
