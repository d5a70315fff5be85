/** Addresses of shared policies. */
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { pageRoute } from '../../parts/page-route.ts';

export const policyRoutes = [
  pageRoute(frontdoorRoute, 'policies', () => import('./policies-page.tsx'), 'PoliciesPage', ['name']),
  pageRoute(frontdoorRoute, 'policies/new', () => import('./new-policy-page.tsx'), 'NewPolicyPage'),
  pageRoute(frontdoorRoute, 'policies/$policyId', () => import('./policy-page.tsx'), 'PolicyPage'),
] as const;
