/** Addresses of recorded requests of a share. */
import { pageRoute } from '../../parts/page-route.ts';
import { shareRoute } from '../shares/shares-routes.ts';

export const requestRoutes = [
  pageRoute(shareRoute, 'requests', () => import('./requests-page.tsx'), 'RequestsPage', [
    'text',
    'statusClass',
    'from',
    'to',
  ]),
  pageRoute(shareRoute, 'requests/$requestId', () => import('./request-page.tsx'), 'RequestPage'),
] as const;
