/** Addresses of recorded requests of a share. */
import { createRoute } from '@tanstack/react-router';
import { shareRoute } from '../shares/shares-routes.ts';
import { searchOf } from '../../parts/search-state.tsx';
import { Unbuilt } from '../../parts/unbuilt.tsx';

export const requestRoutes = [
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'requests',
    validateSearch: searchOf('text', 'statusClass', 'from', 'to'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'requests/$requestId',
    validateSearch: searchOf('with'),
    component: Unbuilt,
  }),
] as const;
