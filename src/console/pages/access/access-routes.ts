/** Addresses of who may come in to a share. */
import { createRoute } from '@tanstack/react-router';
import { shareRoute } from '../shares/shares-routes.ts';
import { Unbuilt } from '../../parts/unbuilt.tsx';

export const accessRoutes = [
  createRoute({
    getParentRoute: () => shareRoute,
    path: 'access',
    component: Unbuilt,
  }),
] as const;
