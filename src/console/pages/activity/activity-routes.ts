/** Addresses of the audit trail. */
import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../frame/root-route.tsx';
import { laterPage } from '../../parts/later-page.tsx';
import { searchOf } from '../../parts/search-state.tsx';

export const activityRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'activity',
    validateSearch: searchOf(
      'text',
      'action',
      'actorId',
      'targetId',
      'result',
      'from',
      'to',
      'organizationId',
    ),
    component: laterPage(() => import('./activity-page.tsx'), 'ActivityPage'),
  }),
] as const;
