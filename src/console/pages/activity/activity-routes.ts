/** Addresses of the audit trail. */
import { rootRoute } from '../../frame/root-route.tsx';
import { pageRoute } from '../../parts/page-route.ts';

export const activityRoutes = [
  pageRoute(rootRoute, 'activity', () => import('./activity-page.tsx'), 'ActivityPage', [
    'text',
    'action',
    'actorId',
    'targetId',
    'result',
    'from',
    'to',
    'organizationId',
  ]),
] as const;
