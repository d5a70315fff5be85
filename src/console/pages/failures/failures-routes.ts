/** Addresses of failures. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';

export const failureRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'failures',
    validateSearch: searchOf(
      'text',
      'statusClass',
      'shareToken',
      'environmentId',
      'providerId',
      'from',
      'to',
    ),
    component: lazyRouteComponent(() => import('./failures-page.tsx'), 'FailuresPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'failures/$errorId',
    component: lazyRouteComponent(() => import('./failure-page.tsx'), 'FailurePage'),
  }),
] as const;
