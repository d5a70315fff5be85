/** Addresses of agents. */
import { createRoute } from '@tanstack/react-router';
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { laterPage } from '../../parts/later-page.tsx';
import { searchOf } from '../../parts/search-state.tsx';

export const agentRoutes = [
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'agents',
    validateSearch: searchOf('name', 'status'),
    component: laterPage(() => import('./agents-page.tsx'), 'AgentsPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'agents/new',
    component: laterPage(() => import('./new-agent-page.tsx'), 'NewAgentPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'agents/codes',
    validateSearch: searchOf(),
    component: laterPage(() => import('./enrollments-page.tsx'), 'EnrollmentsPage'),
  }),
  createRoute({
    getParentRoute: () => frontdoorRoute,
    path: 'agents/$environmentId',
    validateSearch: searchOf('duration'),
    component: laterPage(() => import('./agent-page.tsx'), 'AgentPage'),
  }),
] as const;
