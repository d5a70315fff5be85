/** Addresses of the audit trail. */
import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';
import { Unbuilt } from '../../parts/unbuilt.tsx';

export const activityRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'activity',
    validateSearch: searchOf('text', 'action', 'kind', 'from', 'to', 'actor'),
    component: Unbuilt,
  }),
] as const;
