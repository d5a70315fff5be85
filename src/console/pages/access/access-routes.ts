/** Addresses of who may come in to a share. */
import { createRoute } from '@tanstack/react-router';
import { shareRoute } from '../shares/shares-routes.ts';
import { laterPage } from '../../parts/later-page.tsx';

export const accessRoutes = [
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'access',
    component: laterPage(() => import('./access-page.tsx'), 'AccessPage'),
  }),
] as const;
