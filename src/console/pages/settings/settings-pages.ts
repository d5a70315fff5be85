/** The pages of the settings in their groups, for the list beside them and for the search. */
import type { OperationId } from '#contract';

type Label =
  | 'frontdoors'
  | 'accounts'
  | 'clients'
  | 'people'
  | 'sessions'
  | 'general'
  | 'logIns'
  | 'notifications'
  | 'organizations'
  | 'keys'
  | 'names'
  | 'hostnames'
  | 'eventExport'
  | 'installation';

type GroupLabel = 'yourAccount' | 'organization' | 'apiAccess' | 'installation';

/** Address, text, and the operation whose scope the page and those below it need. */
type SettingsPage = readonly [path: string, label: Label, operation: OperationId];

export const SETTINGS_GROUPS: readonly (readonly [GroupLabel, readonly SettingsPage[]])[] = [
  ['yourAccount', [['sessions', 'sessions', 'listConsoleSessions']]],
  [
    'organization',
    [
      ['frontdoors', 'frontdoors', 'listFrontdoors'],
      ['people', 'people', 'listPeople'],
      ['log-ins', 'logIns', 'listConsoleLogIns'],
      ['notifications', 'notifications', 'listNotificationDestinations'],
      ['organization', 'general', 'getOrganizationSettings'],
    ],
  ],
  [
    'apiAccess',
    [
      ['accounts', 'accounts', 'listApiAccounts'],
      ['clients', 'clients', 'listOauthClients'],
    ],
  ],
  [
    'installation',
    [
      ['installation', 'installation', 'getInstallation'],
      ['organizations', 'organizations', 'listOrganizations'],
      ['hostnames', 'hostnames', 'listHostnameClaims'],
      ['names', 'names', 'listRestingNames'],
      ['keys', 'keys', 'listSigningKeys'],
      ['event-export', 'eventExport', 'getEventExport'],
    ],
  ],
];
