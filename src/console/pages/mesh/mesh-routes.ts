/** Addresses of the mesh, for operators. */
import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../frame/root-route.tsx';
import { laterPage } from '../../parts/later-page.tsx';
import { searchOf } from '../../parts/search-state.tsx';

const meshRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'mesh',
  component: laterPage(() => import('./mesh-frame.tsx'), 'MeshFrame'),
});

export const meshRoutes = [
  meshRoute.addChildren([
    createRoute({
      getParentRoute: () => meshRoute,
      path: '/',
      validateSearch: searchOf('routerId', 'serviceId', 'instanceId'),
      component: laterPage(() => import('./map-page.tsx'), 'MapPage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'routers',
      validateSearch: searchOf('name'),
      component: laterPage(() => import('./nodes-page.tsx'), 'RoutersPage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'routers/$routerId',
      component: laterPage(() => import('./router-page.tsx'), 'RouterPage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'gateways',
      validateSearch: searchOf('name'),
      component: laterPage(() => import('./nodes-page.tsx'), 'GatewaysPage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'gateways/$gatewayId',
      component: laterPage(() => import('./gateway-page.tsx'), 'GatewayPage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'links',
      validateSearch: searchOf(),
      component: laterPage(() => import('./links-page.tsx'), 'LinksPage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'circuits',
      validateSearch: searchOf('routerId', 'serviceId'),
      component: laterPage(() => import('./circuits-page.tsx'), 'CircuitsPage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'services',
      validateSearch: searchOf('name'),
      component: laterPage(() => import('./services-page.tsx'), 'ServicesPage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'services/$serviceId',
      component: laterPage(() => import('./service-page.tsx'), 'ServicePage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'terminators',
      validateSearch: searchOf('serviceId', 'routerId'),
      component: laterPage(() => import('./terminators-page.tsx'), 'TerminatorsPage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'terminators/$terminatorId',
      component: laterPage(() => import('./terminator-page.tsx'), 'TerminatorPage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'inspect',
      validateSearch: searchOf('routerId'),
      component: laterPage(() => import('./inspect-page.tsx'), 'InspectPage'),
    }),
    createRoute({
      getParentRoute: () => meshRoute,
      path: 'failures/$errorId',
      component: laterPage(() => import('./unrouted-failure-page.tsx'), 'UnroutedFailurePage'),
    }),
  ]),
] as const;
