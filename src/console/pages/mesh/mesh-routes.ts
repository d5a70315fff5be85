/** Addresses of the mesh, for operators. */
import { rootRoute } from '../../frame/root-route.tsx';
import { pageRoute } from '../../parts/page-route.ts';

const meshRoute = pageRoute(rootRoute, 'mesh', () => import('./mesh-frame.tsx'), 'MeshFrame');

export const meshRoutes = [
  meshRoute.addChildren([
    pageRoute(meshRoute, '/', () => import('./map-page.tsx'), 'MapPage', [
      'routerId',
      'serviceId',
      'instanceId',
    ]),
    pageRoute(meshRoute, 'routers', () => import('./nodes-page.tsx'), 'RoutersPage', ['name']),
    pageRoute(meshRoute, 'routers/$routerId', () => import('./router-page.tsx'), 'RouterPage'),
    pageRoute(meshRoute, 'gateways', () => import('./nodes-page.tsx'), 'GatewaysPage', ['name']),
    pageRoute(meshRoute, 'gateways/$gatewayId', () => import('./gateway-page.tsx'), 'GatewayPage'),
    pageRoute(meshRoute, 'links', () => import('./links-page.tsx'), 'LinksPage'),
    pageRoute(meshRoute, 'circuits', () => import('./circuits-page.tsx'), 'CircuitsPage', [
      'routerId',
      'serviceId',
    ]),
    pageRoute(meshRoute, 'services', () => import('./services-page.tsx'), 'ServicesPage', ['name']),
    pageRoute(meshRoute, 'services/$serviceId', () => import('./service-page.tsx'), 'ServicePage'),
    pageRoute(meshRoute, 'terminators', () => import('./terminators-page.tsx'), 'TerminatorsPage', [
      'serviceId',
      'routerId',
    ]),
    pageRoute(
      meshRoute,
      'terminators/$terminatorId',
      () => import('./terminator-page.tsx'),
      'TerminatorPage',
    ),
    pageRoute(meshRoute, 'inspect', () => import('./inspect-page.tsx'), 'InspectPage', ['routerId']),
    pageRoute(
      meshRoute,
      'failures/$errorId',
      () => import('./unrouted-failure-page.tsx'),
      'UnroutedFailurePage',
    ),
  ]),
] as const;
