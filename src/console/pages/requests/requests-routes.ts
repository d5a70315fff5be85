/** Addresses of recorded requests of a share. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { searchOf } from '../../parts/search-state.tsx';
import { shareRoute } from '../shares/shares-routes.ts';

export const requestRoutes = [
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'requests',
    validateSearch: searchOf('text', 'statusClass', 'from', 'to'),
    component: lazyRouteComponent(() => import('./requests-page.tsx'), 'RequestsPage'),
  }),
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'requests/$requestId',
    component: lazyRouteComponent(() => import('./request-page.tsx'), 'RequestPage'),
  }),
] as const;
