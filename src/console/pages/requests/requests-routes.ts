/** Addresses of recorded requests of a share. */
import { createRoute } from '@tanstack/react-router';
import { laterPage } from '../../parts/later-page.tsx';
import { searchOf } from '../../parts/search-state.tsx';
import { shareRoute } from '../shares/shares-routes.ts';

export const requestRoutes = [
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'requests',
    validateSearch: searchOf('text', 'statusClass', 'from', 'to'),
    component: laterPage(() => import('./requests-page.tsx'), 'RequestsPage'),
  }),
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'requests/$requestId',
    component: laterPage(() => import('./request-page.tsx'), 'RequestPage'),
  }),
] as const;
