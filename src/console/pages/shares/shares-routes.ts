/** Addresses of shares. The pages of one share have a common frame, which other folders add pages to. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';
import { Unbuilt } from '../../parts/unbuilt.tsx';

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
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'traffic',
    validateSearch: searchOf('duration'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'settings',
    component: Unbuilt,
  }),
] as const;

export const shareRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'shares',
    validateSearch: searchOf('name', 'status', 'environmentId', 'providerId'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'shares/new',
    component: Unbuilt,
  }),
] as const;
