/** Addresses of agents. */
import { createRoute } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';
import { Unbuilt } from '../../parts/unbuilt.tsx';

export const agentRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'agents',
    validateSearch: searchOf('name', 'status'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'agents/$environmentId',
    component: Unbuilt,
  }),
] as const;
