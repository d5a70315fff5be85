/** Addresses of agents. */
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { pageRoute } from '../../parts/page-route.ts';

export const agentRoutes = [
  pageRoute(frontdoorRoute, 'agents', () => import('./agents-page.tsx'), 'AgentsPage', ['name', 'status']),
  pageRoute(frontdoorRoute, 'agents/new', () => import('./new-agent-page.tsx'), 'NewAgentPage'),
  pageRoute(frontdoorRoute, 'agents/codes', () => import('./enrollments-page.tsx'), 'EnrollmentsPage'),
  pageRoute(frontdoorRoute, 'agents/$environmentId', () => import('./agent-page.tsx'), 'AgentPage', [
    'duration',
  ]),
] as const;
