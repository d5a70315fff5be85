/** Addresses of settings. Each page has its address inside the common frame. */
import { createRoute, redirect } from '@tanstack/react-router';
import { rootRoute } from '../../frame/root-route.tsx';
import { laterPage } from '../../parts/later-page.tsx';
import { searchOf } from '../../parts/search-state.tsx';

const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'settings',
  component: laterPage(() => import('./settings-frame.tsx'), 'SettingsFrame'),
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
      component: laterPage(() => import('./frontdoors-page.tsx'), 'FrontdoorsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'accounts',
      validateSearch: ofOrganization,
      component: laterPage(() => import('./accounts-pages.tsx'), 'AccountsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'accounts/$accountId',
      component: laterPage(() => import('./accounts-pages.tsx'), 'AccountPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'clients',
      validateSearch: ofOrganization,
      component: laterPage(() => import('./clients-pages.tsx'), 'ClientsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'clients/$clientId',
      component: laterPage(() => import('./clients-pages.tsx'), 'ClientPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'people',
      validateSearch: ofOrganization,
      component: laterPage(() => import('./people-page.tsx'), 'PeoplePage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'people/$personId',
      component: laterPage(() => import('./person-page.tsx'), 'PersonPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'sessions',
      validateSearch: ofOrganization,
      component: laterPage(() => import('./sessions-page.tsx'), 'SessionsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'organization',
      validateSearch: ofOrganization,
      component: laterPage(() => import('./organization-page.tsx'), 'OrganizationPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'log-ins',
      validateSearch: ofOrganization,
      component: laterPage(() => import('./log-ins-page.tsx'), 'LogInsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'organizations',
      validateSearch: searchOf('name'),
      component: laterPage(() => import('./organizations-page.tsx'), 'OrganizationsPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'organizations/$organizationId',
      component: laterPage(() => import('./one-organization-page.tsx'), 'OneOrganizationPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'keys',
      component: laterPage(() => import('./keys-page.tsx'), 'KeysPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'names',
      validateSearch: searchOf('organizationId'),
      component: laterPage(() => import('./names-page.tsx'), 'NamesPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'hostnames',
      validateSearch: searchOf('name', 'organizationId', 'proof'),
      component: laterPage(() => import('./hostnames-page.tsx'), 'HostnamesPage'),
    }),
    createRoute({
      getParentRoute: () => settingsRoute,
      path: 'installation',
      component: laterPage(() => import('./installation-page.tsx'), 'InstallationPage'),
    }),
  ]),
] as const;
