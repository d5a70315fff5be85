/** Addresses of settings. Each page has its address inside the common frame. */
import { createRoute, redirect } from '@tanstack/react-router';
import { rootRoute } from '../../frame/root-route.tsx';
import { NEW_FIELD } from '../../parts/form-in-address.ts';
import { pageRoute } from '../../parts/page-route.ts';

const settingsRoute = pageRoute(rootRoute, 'settings', () => import('./settings-frame.tsx'), 'SettingsFrame');

const OF_ORGANIZATION = ['organizationId', 'name', NEW_FIELD];

export const settingsRoutes = [
  settingsRoute.addChildren([
    createRoute({
      getParentRoute: () => settingsRoute,
      path: '/',
      // Everyone may see the frontdoors.
      beforeLoad: () => {
        // oxlint-disable-next-line typescript/only-throw-error
        throw redirect({ to: '/settings/frontdoors', replace: true });
      },
    }),
    pageRoute(
      settingsRoute,
      'frontdoors',
      () => import('./frontdoors-page.tsx'),
      'FrontdoorsPage',
      OF_ORGANIZATION,
    ),
    pageRoute(
      settingsRoute,
      'accounts',
      () => import('./accounts-pages.tsx'),
      'AccountsPage',
      OF_ORGANIZATION,
    ),
    pageRoute(settingsRoute, 'accounts/$accountId', () => import('./accounts-pages.tsx'), 'AccountPage'),
    pageRoute(settingsRoute, 'clients', () => import('./clients-pages.tsx'), 'ClientsPage', OF_ORGANIZATION),
    pageRoute(settingsRoute, 'clients/$clientId', () => import('./clients-pages.tsx'), 'ClientPage'),
    pageRoute(settingsRoute, 'people', () => import('./people-page.tsx'), 'PeoplePage', OF_ORGANIZATION),
    pageRoute(settingsRoute, 'people/$personId', () => import('./person-page.tsx'), 'PersonPage'),
    pageRoute(
      settingsRoute,
      'sessions',
      () => import('./sessions-page.tsx'),
      'SessionsPage',
      OF_ORGANIZATION,
    ),
    pageRoute(
      settingsRoute,
      'organization',
      () => import('./organization-page.tsx'),
      'OrganizationPage',
      OF_ORGANIZATION,
    ),
    pageRoute(settingsRoute, 'log-ins', () => import('./log-ins-page.tsx'), 'LogInsPage', OF_ORGANIZATION),
    pageRoute(
      settingsRoute,
      'notifications',
      () => import('./notifications-page.tsx'),
      'NotificationsPage',
      OF_ORGANIZATION,
    ),
    pageRoute(
      settingsRoute,
      'notifications/$destinationId',
      () => import('./notification-page.tsx'),
      'NotificationPage',
    ),
    pageRoute(settingsRoute, 'organizations', () => import('./organizations-page.tsx'), 'OrganizationsPage', [
      'name',
    ]),
    pageRoute(
      settingsRoute,
      'organizations/$organizationId',
      () => import('./one-organization-page.tsx'),
      'OneOrganizationPage',
    ),
    pageRoute(settingsRoute, 'keys', () => import('./keys-page.tsx'), 'KeysPage'),
    pageRoute(settingsRoute, 'names', () => import('./names-page.tsx'), 'NamesPage', ['organizationId']),
    pageRoute(settingsRoute, 'hostnames', () => import('./hostnames-page.tsx'), 'HostnamesPage', [
      'name',
      'organizationId',
      'proof',
    ]),
    pageRoute(settingsRoute, 'event-export', () => import('./event-export-page.tsx'), 'EventExportPage'),
    pageRoute(settingsRoute, 'installation', () => import('./installation-page.tsx'), 'InstallationPage'),
  ]),
] as const;
