/** Every page and its address. Pages are loaded when they are opened. */
import { createRoute, createRouter } from '@tanstack/react-router';
import { LoggedInAgain } from './frame/renew-session.tsx';
import { frontdoorRoute, PageFailed, rootRoute } from './frame/root-route.tsx';
import { activityRoutes } from './pages/activity/activity-routes.ts';
import { agentRoutes } from './pages/agents/agents-routes.ts';
import { domainRoutes } from './pages/domains/domains-routes.ts';
import { failureRoutes } from './pages/failures/failures-routes.ts';
import { meshRoutes } from './pages/mesh/mesh-routes.ts';
import { policyRoutes } from './pages/policies/policies-routes.ts';
import { providerRoutes } from './pages/providers/providers-routes.ts';
import { requestLogRoutes } from './pages/request-log/request-log-routes.ts';
import { requestRoutes } from './pages/requests/requests-routes.ts';
import { settingsRoutes } from './pages/settings/settings-routes.ts';
import { sharePageRoutes, shareRoute, shareRoutes } from './pages/shares/shares-routes.ts';
import { Waiting } from './parts/answer-view.tsx';
import { pageRoute } from './parts/page-route.ts';
import { place } from './place.ts';

const homeRoute = pageRoute(rootRoute, '/', () => import('./frame/home-page.tsx'), 'HomePage');
const overviewRoute = pageRoute(
  frontdoorRoute,
  '/',
  () => import('./pages/overview/overview-page.tsx'),
  'OverviewPage',
  ['range'],
);
const loggedInAgainRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'logged-in-again',
  component: LoggedInAgain,
});

const routeTree = rootRoute.addChildren([
  homeRoute,
  loggedInAgainRoute,
  frontdoorRoute.addChildren([
    overviewRoute,
    ...shareRoutes,
    shareRoute.addChildren([...sharePageRoutes, ...requestRoutes]),
    ...agentRoutes,
    ...providerRoutes,
    ...policyRoutes,
    ...domainRoutes,
    ...failureRoutes,
    ...requestLogRoutes,
  ]),
  ...activityRoutes,
  ...meshRoutes,
  ...settingsRoutes,
]);

export const router = createRouter({
  routeTree,
  basepath: place.base,
  defaultPendingComponent: Waiting,
  defaultErrorComponent: PageFailed,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
