/** Addresses of failures. */
import { createRoute } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { laterPage } from '../../parts/later-page.tsx';
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
    component: laterPage(() => import('./failures-page.tsx'), 'FailuresPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'failures/$errorId',
    component: laterPage(() => import('./failure-page.tsx'), 'FailurePage'),
  }),
] as const;
