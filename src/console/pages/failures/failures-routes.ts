/** Addresses of failures. */
import { createRoute } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';
import { Unbuilt } from '../../parts/unbuilt.tsx';

export const failureRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'failures',
    validateSearch: searchOf('hop', 'code', 'from', 'to', 'text', 'errorId', 'shareToken'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'failures/$errorId',
    component: Unbuilt,
  }),
] as const;
