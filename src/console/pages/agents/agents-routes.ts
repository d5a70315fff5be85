/** Addresses of agents. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';

export const agentRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'agents',
    validateSearch: searchOf('name', 'status'),
    component: lazyRouteComponent(() => import('./agents-page.tsx'), 'AgentsPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'agents/new',
    component: lazyRouteComponent(() => import('./new-agent-page.tsx'), 'NewAgentPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'agents/codes',
    validateSearch: searchOf(),
    component: lazyRouteComponent(() => import('./enrollments-page.tsx'), 'EnrollmentsPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'agents/$environmentId',
    validateSearch: searchOf('duration'),
    component: lazyRouteComponent(() => import('./agent-page.tsx'), 'AgentPage'),
  }),
] as const;
