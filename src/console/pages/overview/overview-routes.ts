/** Addresses of the overview of a frontdoor. */
import { createRoute } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { laterPage } from '../../parts/later-page.tsx';

export const overviewRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: '/',
    component: laterPage(() => import('./overview-page.tsx'), 'OverviewPage'),
  }),
] as const;
