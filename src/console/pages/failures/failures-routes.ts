/** Addresses of failures. */
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { pageRoute } from '../../parts/page-route.ts';

export const failureRoutes = [
  pageRoute(frontdoorRoute, 'failures', () => import('./failures-page.tsx'), 'FailuresPage', [
    'text',
    'statusClass',
    'shareToken',
    'code',
    'hop',
    'environmentId',
    'providerId',
    'from',
    'to',
  ]),
  pageRoute(frontdoorRoute, 'failures/$errorId', () => import('./failure-page.tsx'), 'FailurePage'),
] as const;
