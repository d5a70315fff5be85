/** Addresses of who may come in to a share. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shareRoute } from '../shares/shares-routes.ts';

export const accessRoutes = [
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'access',
    component: lazyRouteComponent(() => import('./access-page.tsx'), 'AccessPage'),
  }),
] as const;
