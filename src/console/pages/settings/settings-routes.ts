/** Addresses of settings. */
import { createRoute } from '@tanstack/react-router';
import { rootRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';
import { Unbuilt } from '../../parts/unbuilt.tsx';

export const settingsRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/frontdoors',
    validateSearch: searchOf('name'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/accounts',
    validateSearch: searchOf('name'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/accounts/$accountId',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/clients',
    validateSearch: searchOf('name'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/clients/$clientId',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/people',
    validateSearch: searchOf('name'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/people/$personId',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/sessions',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/organization',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/log-ins',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/organizations',
    validateSearch: searchOf('name'),
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/organizations/$organizationId',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/keys',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/names',
    component: Unbuilt,
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: 'settings/installation',
    component: Unbuilt,
  }),
] as const;
