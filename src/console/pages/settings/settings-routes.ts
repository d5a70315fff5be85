/** Addresses of settings. Each page has its address inside the common frame. */
import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { rootRoute } from '../../frame/root-route.tsx';
import { searchOf } from '../../parts/search-state.tsx';

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'settings',
  component: lazyRouteComponent(() => import('./settings-frame.tsx'), 'SettingsFrame'),
});

const ofOrganization = searchOf('organizationId', 'name');

export const settingsRoutes = [
  settingsRoute.addChildren([
    createRoute({
      getParentRoute: () => settingsRoute,
      path: '/',
      // Everybody may see the frontdoors.
      beforeLoad: () => {
        // oxlint-disable-next-line typescript/only-throw-error
        throw redirect({ to: '/settings/frontdoors', replace: true });
      },
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'frontdoors',
      validateSearch: ofOrganization,
      component: lazyRouteComponent(() => import('./frontdoors-page.tsx'), 'FrontdoorsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'accounts',
      validateSearch: ofOrganization,
      component: lazyRouteComponent(() => import('./accounts-pages.tsx'), 'AccountsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'accounts/$accountId',
      component: lazyRouteComponent(() => import('./accounts-pages.tsx'), 'AccountPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'clients',
      validateSearch: ofOrganization,
      component: lazyRouteComponent(() => import('./clients-pages.tsx'), 'ClientsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'clients/$clientId',
      component: lazyRouteComponent(() => import('./clients-pages.tsx'), 'ClientPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'people',
      validateSearch: ofOrganization,
      component: lazyRouteComponent(() => import('./people-page.tsx'), 'PeoplePage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'people/$personId',
      component: lazyRouteComponent(() => import('./person-page.tsx'), 'PersonPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'sessions',
      validateSearch: ofOrganization,
      component: lazyRouteComponent(() => import('./sessions-page.tsx'), 'SessionsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'organization',
      validateSearch: ofOrganization,
      component: lazyRouteComponent(() => import('./organization-page.tsx'), 'OrganizationPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'log-ins',
      validateSearch: ofOrganization,
      component: lazyRouteComponent(() => import('./log-ins-page.tsx'), 'LogInsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'organizations',
      validateSearch: searchOf('name'),
      component: lazyRouteComponent(() => import('./organizations-page.tsx'), 'OrganizationsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'organizations/$organizationId',
      component: lazyRouteComponent(() => import('./one-organization-page.tsx'), 'OneOrganizationPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'keys',
      component: lazyRouteComponent(() => import('./keys-page.tsx'), 'KeysPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'names',
      validateSearch: searchOf('organizationId'),
      component: lazyRouteComponent(() => import('./names-page.tsx'), 'NamesPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'hostnames',
      validateSearch: searchOf('name', 'organizationId', 'proof'),
      component: lazyRouteComponent(() => import('./hostnames-page.tsx'), 'HostnamesPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'installation',
      component: lazyRouteComponent(() => import('./installation-page.tsx'), 'InstallationPage'),
    }),
  ]),
] as const;
