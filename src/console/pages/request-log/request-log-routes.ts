/** The address of the request log of a frontdoor. */
import { frontdoorRoute } from '../../frame/root-route.tsx';
import { pageRoute } from '../../parts/page-route.ts';
import { LOG_FILTERS } from './log-filter-table.ts';

export const requestLogRoutes = [
  pageRoute(frontdoorRoute, 'requests', () => import('./request-log-page.tsx'), 'RequestLogPage', [
    ...LOG_FILTERS,
    'request',
  ]),
] as const;
