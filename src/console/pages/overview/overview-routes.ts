/** Addresses of the overview of a frontdoor. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';

export const overviewRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: '/',
    component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
  }),
] as const;
