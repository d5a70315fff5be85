/** Addresses of the mesh. */
import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';
import { Unbuilt } from '../../parts/unbuilt.tsx';

export const meshRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh',
    validateSearch: searchOf('selected'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/routers',
    validateSearch: searchOf('name'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/routers/$routerId',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/gateways',
    validateSearch: searchOf('name'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/gateways/$gatewayId',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/links',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/circuits',
    validateSearch: searchOf('routerId', 'serviceId'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/services',
    validateSearch: searchOf('name'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/services/$serviceId',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/terminators',
    validateSearch: searchOf('serviceId', 'routerId'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/terminators/$terminatorId',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/inspect',
    validateSearch: searchOf('routerId'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'mesh/failures/$errorId',
    component: Unbuilt,
  }),
] as const;
