/**
 * What each control of the console does when someone presses it, by its page and its label without names and numbers. A control of a
 * dialog has the label of what opens the dialog before it.
 */

type Rows = Readonly<Record<string, string>>;

/** Controls that do the same wherever they are. */
const EVERYWHERE: readonly (readonly [label: RegExp, effect: string])[] = [
  [/^(.* › )?(Close|Cancel)$/, 'closes'],
  [/^(.* › )?Copy$/, 'copied'],
  [/^Sort by /, 'address ?sort'],
  [/^View$/, 'dialog View'],
  [/^Export$/, 'shows CSV file'],
  [/^Export › (CSV|JSON) file$/, 'file'],
];

/** The effect that the rows of a place have for a control; undefined if it has no row. */
export function effectOf(label: string, rows: Rows): string | undefined {
  return rows[label] ?? EVERYWHERE.find(([pattern]) => pattern.test(label))?.[1];
}

/** Controls that are there only while something happens to be open, to wait or to fail. */
export const SOMETIMES: readonly RegExp[] = [
  /a failure$/,
  /^\/mesh\/circuits (Actions|View|Export|.* › )/,
  /^\/activity (Back|Next)$/,
  /^\/frontdoors\/\$frontdoorId (broken|app|agent|apps\.filled\.example)$/,
];

export const EFFECTS: Readonly<Record<string, Rows>> = {
  '/frontdoors/$frontdoorId': {
    Shares: 'page /frontdoors/$frontdoorId/shares',
    Agents: 'page /frontdoors/$frontdoorId/agents',
    Failures: 'page /frontdoors/$frontdoorId/failures',
    broken: 'page /frontdoors/$frontdoorId/shares/$token/',
    'apps.filled.example': 'page /frontdoors/$frontdoorId/domains/$domainId',
    agent: 'page /frontdoors/$frontdoorId/agents/$environmentId',
    'All failures': 'page /frontdoors/$frontdoorId/failures',
    'a failure': 'page /frontdoors/$frontdoorId/failures/$errorId',
  },
  '/frontdoors/$frontdoorId/shares': {
    'Publish a service': 'page /frontdoors/$frontdoorId/shares/new',
    Any: 'address ?status',
    app: 'page /frontdoors/$frontdoorId/shares/$token/',
    'Open in a new tab': 'tab /',
    agent: 'page /frontdoors/$frontdoorId/agents/$environmentId',
    secret: 'page /frontdoors/$frontdoorId/shares/$token/',
    broken: 'page /frontdoors/$frontdoorId/shares/$token/',
    Actions: 'shows Access settings',
    'Actions › Access settings': 'page /frontdoors/$frontdoorId/shares/$token/access',
    'Actions › Requests': 'page /frontdoors/$frontdoorId/shares/$token/requests',
    'Actions › Settings': 'page /frontdoors/$frontdoorId/shares/$token/settings',
    'Actions › Disable': 'dialog Disable app',
    'Actions › Disable › Disable': 'asks replaceSharePolicy',
    'Actions › Record requests': 'dialog Record requests of app',
    'Actions › Record requests › Record requests': 'asks setInspector',
    'Actions › Delete': 'dialog Delete app',
    'Actions › Delete › Delete': 'asks deleteShare',
  },
  '/frontdoors/$frontdoorId/shares/new': {
    Next: 'shows Select the agent next to the service.',
  },
  '/frontdoors/$frontdoorId/shares/$token': {
    agent: 'page /frontdoors/$frontdoorId/agents/$environmentId',
    'Open in a new tab': 'tab /',
    'Access settings': 'page /frontdoors/$frontdoorId/shares/$token/access',
    'All failures of this share': 'page /frontdoors/$frontdoorId/failures',
    'a failure': 'page /frontdoors/$frontdoorId/failures/$errorId',
  },
  '/frontdoors/$frontdoorId/shares/$token/traffic': {},
  '/frontdoors/$frontdoorId/shares/$token/service': {
    'Add a request header': 'shows Header N',
    'Add a response header': 'shows Header N',
    'Add a service': 'shows Service N',
    'Add an answer': 'shows Answer N',
    Save: 'asks changeShareUpstream',
    'Use the defaults': 'dialog Use the defaults?',
    'Use the defaults › Use the defaults': 'asks resetShareUpstream',
  },
  '/frontdoors/$frontdoorId/shares/$token/domains': {
    'Add domain': 'asks addShareDomain',
    'Check now': 'reads checkShareDomain',
    Remove: 'dialog Remove shop.filled.example',
    'Remove › Remove': 'asks removeShareDomain',
  },
  '/frontdoors/$frontdoorId/shares/$token/settings': {
    Save: 'asks changeShare',
    agent: 'page /frontdoors/$frontdoorId/agents/$environmentId',
    'Publish again': 'page /frontdoors/$frontdoorId/shares/new',
    'Delete this share': 'dialog Delete app',
    'Delete this share › Delete': 'asks deleteShare',
  },
  '/frontdoors/$frontdoorId/shares/$token/access': {
    'Review and save': 'asks compareSharePolicy',
    'More options': 'shows Origin of the page',
    Test: 'asks explainShareAccess',
  },
  '/frontdoors/$frontdoorId/shares/$token/requests': {
    'Stop recording': 'asks setInspector',
    'Delete recorded requests': 'dialog Delete recorded requests',
    'Delete recorded requests › Delete recorded requests': 'asks deleteInspectedRequests',
    Pause: 'shows Resume',
    Any: 'address ?statusClass',
    'Open GET': 'page /frontdoors/$frontdoorId/shares/$token/requests/$requestId',
  },
  '/frontdoors/$frontdoorId/shares/$token/requests/$requestId': {
    'Edit and replay': 'dialog Edit and replay',
    'Edit and replay › Replay': 'asks replayInspectedRequest',
    'Copy as curl': 'copied',
  },
  '/frontdoors/$frontdoorId/agents': {
    'Add an agent': 'page /frontdoors/$frontdoorId/agents/new',
    Any: 'address ?status',
    agent: 'page /frontdoors/$frontdoorId/agents/$environmentId',
  },
  '/frontdoors/$frontdoorId/agents/new': {
    'Create code': 'asks createEnrollment',
  },
  '/frontdoors/$frontdoorId/agents/codes': {
    'Revoke code unnamed': 'dialog Revoke code unnamed',
    'Revoke code unnamed › Revoke code': 'asks cancelEnrollment',
    agent: 'page /frontdoors/$frontdoorId/agents/$environmentId',
  },
  '/frontdoors/$frontdoorId/agents/$environmentId': {
    Rename: 'dialog Rename agent',
    'Rename › Save': 'asks changeEnvironment',
    Delete: 'dialog Delete agent',
    'Delete › Delete': 'asks deleteEnvironment',
    'Publish a service': 'page /frontdoors/$frontdoorId/shares/new',
    broken: 'page /frontdoors/$frontdoorId/shares/$token/',
    'Open in a new tab': 'tab /',
    secret: 'page /frontdoors/$frontdoorId/shares/$token/',
    app: 'page /frontdoors/$frontdoorId/shares/$token/',
  },
  '/frontdoors/$frontdoorId/providers': {
    'Add sign-in provider': 'page /frontdoors/$frontdoorId/providers/new',
    Any: 'address ?type',
    provider: 'page /frontdoors/$frontdoorId/providers/$providerId',
    identity: 'page /frontdoors/$frontdoorId/providers/$providerId',
    'other identity': 'page /frontdoors/$frontdoorId/providers/$providerId',
  },
  '/frontdoors/$frontdoorId/providers/new': {
    'OpenID Connect': 'asks reserveAuthProvider',
    Keycloak: 'asks reserveAuthProvider',
    authentik: 'asks reserveAuthProvider',
    AuthN: 'asks reserveAuthProvider',
    'API key': 'address ?type',
    Google: 'asks reserveAuthProvider',
    GitHub: 'asks reserveAuthProvider',
    GitLab: 'asks reserveAuthProvider',
    'Microsoft Entra ID': 'asks reserveAuthProvider',
  },
  '/frontdoors/$frontdoorId/providers/$providerId': {
    Disable: 'dialog Disable',
    'Disable › Disable': 'asks changeAuthProvider',
    Replace: 'shows If empty, a secret is generated and shown once. Otherwise enter at least N characters.',
    Add: 'shows Remove key',
    'Save changes': 'asks changeAuthProvider',
    'Delete this provider': 'dialog Delete this provider',
    'Delete this provider › Delete': 'asks deleteAuthProvider',
  },
  '/frontdoors/$frontdoorId/domains': {
    'Add custom domain': 'page /frontdoors/$frontdoorId/domains/new',
    Any: 'address ?status',
    'apps.filled.example': 'page /frontdoors/$frontdoorId/domains/$domainId',
  },
  '/frontdoors/$frontdoorId/domains/new': {
    'Add domain': 'asks createCustomFrontend',
  },
  '/frontdoors/$frontdoorId/domains/$domainId': {
    'Check again': 'reads checkDnsRecords',
    'Save sign-in providers': 'asks changeCustomFrontend',
    'Delete this domain': 'dialog Delete this domain',
    'Delete this domain › Delete': 'asks deleteCustomFrontend',
  },
  '/frontdoors/$frontdoorId/failures': {
    Explain: 'page /frontdoors/$frontdoorId/failures/$errorId',
    Any: 'address ?statusClass',
    broken: 'page /frontdoors/$frontdoorId/shares/$token/',
    app: 'page /frontdoors/$frontdoorId/shares/$token/',
    'a time ago': 'page /frontdoors/$frontdoorId/failures/$errorId',
  },
  '/frontdoors/$frontdoorId/failures/$errorId': {
    'Go to share': 'page /frontdoors/$frontdoorId/shares/$token/',
    'View access settings': 'page /frontdoors/$frontdoorId/shares/$token/access',
  },
  '/activity': {
    'Verify that no events have been changed, removed or inserted': 'shows All N events are intact.',
    Any: 'address ?result',
    'an event': 'dialog an event',
    Back: 'disabled',
    Next: 'address ?page',
  },
  '/mesh': {
    'router, connected': 'page /mesh/routers/$routerId',
    router: 'page /mesh/routers/$routerId',
    Explain: 'page /mesh/failures/$errorId',
  },
  '/mesh/routers': {
    'New router': 'dialog New router',
    'New router › Create': 'asks createRouter',
    router: 'page /mesh/routers/$routerId',
  },
  '/mesh/routers/$routerId': {
    Delete: 'dialog Delete router',
    'Delete › Delete': 'asks deleteRouter',
    Circuits: 'page /mesh/circuits',
    Terminators: 'page /mesh/terminators',
    Inspect: 'page /mesh/inspect',
    Save: 'asks changeRouter',
  },
  '/mesh/gateways': {
    'New gateway': 'dialog New gateway',
    'New gateway › Create': 'asks createGateway',
    gateway: 'page /mesh/gateways/$gatewayId',
  },
  '/mesh/gateways/$gatewayId': {
    Delete: 'dialog Delete gateway',
    'Delete › Delete': 'asks deleteGateway',
  },
  '/mesh/links': {},
  '/mesh/circuits': {
    Any: 'address ?routerId',
    Actions: 'shows Follow',
    'Actions › Follow': 'asks inspectRouters',
    'Actions › Close circuit': 'dialog Close circuit',
    'Actions › Close circuit › Close circuit': 'asks endCircuit',
  },
  '/mesh/services': {
    'New service': 'dialog New service',
    'New service › Create': 'asks createFabricService',
    service: 'page /mesh/services/$serviceId',
  },
  '/mesh/services/$serviceId': {
    Delete: 'dialog Delete service',
    'Delete › Delete': 'asks deleteFabricService',
    Save: 'asks changeFabricService',
    Terminators: 'page /mesh/terminators',
  },
  '/mesh/terminators': {
    'New terminator': 'dialog New terminator',
    'New terminator › Create': 'asks createTerminator',
    Any: 'address ?routerId',
    'an id': 'page /mesh/terminators/$terminatorId',
  },
  '/mesh/terminators/$terminatorId': {
    Delete: 'dialog Delete terminator',
    'Delete › Delete': 'asks deleteTerminator',
    Save: 'asks changeTerminator',
  },
  '/mesh/inspect': {
    Inspect: 'asks inspectRouters',
  },
  '/mesh/failures/$errorId': {},
  '/settings/frontdoors': {
    'New frontdoor': 'dialog New frontdoor',
    'New frontdoor › Create': 'asks createFrontdoor',
    'First frontdoor': 'page /frontdoors/$frontdoorId/',
    Actions: 'shows Rename',
    'Actions › Rename': 'dialog Rename',
    'Actions › Rename › Rename': 'asks changeFrontdoor',
    'Actions › Delete': 'dialog Delete frontdoor',
    'Actions › Delete › Delete': 'asks deleteFrontdoor',
  },
  '/settings/accounts': {
    'New API account': 'dialog New API account',
    'New API account › Create': 'asks createApiAccount',
    'First account': 'page /settings/accounts/$accountId',
    account: 'page /settings/accounts/$accountId',
  },
  '/settings/accounts/$accountId': {
    Rename: 'dialog Rename',
    'Rename › Rename': 'asks changeApiAccount',
    Rotate: 'dialog Rotate',
    'Rotate › Rotate': 'asks rotateApiAccount',
    Revoke: 'dialog Revoke account',
    'Revoke › Revoke': 'asks deleteApiAccount',
    'Revoke previous secret': 'dialog Revoke previous secret',
    'Revoke previous secret › Revoke': 'asks endPreviousToken',
  },
  '/settings/clients': {
    'New OAuth client': 'dialog New OAuth client',
    'New OAuth client › Create': 'asks createOauthClient',
    'First client': 'page /settings/clients/$clientId',
    client: 'page /settings/clients/$clientId',
  },
  '/settings/clients/$clientId': {
    Rename: 'dialog Rename',
    'Rename › Rename': 'asks changeOauthClient',
    Rotate: 'dialog Rotate',
    'Rotate › Rotate': 'asks rotateOauthClient',
    Revoke: 'dialog Revoke client',
    'Revoke › Revoke': 'asks deleteOauthClient',
    'Revoke previous secret': 'dialog Revoke previous secret',
    'Revoke previous secret › Revoke': 'asks endPreviousSecret',
  },
  '/settings/people': {
    'Invite a person': 'dialog Invite a person',
    'Invite a person › Invite a person': 'asks createInvitation',
    person: 'page /settings/people/$personId',
    operator: 'page /settings/people/$personId',
    Revoke: 'dialog Revoke',
    'Revoke › Revoke': 'asks deleteInvitation',
  },
  '/settings/people/$personId': {
    'New password': 'dialog New password',
    'New password › Create link': 'asks createPasswordLink',
    'Remove second factor': 'disabled',
    'Remove person': 'dialog Remove person',
    'Remove person › Remove person': 'asks deletePerson',
    Save: 'asks changePerson',
  },
  '/settings/sessions': {
    'End session': 'dialog End session',
    'End session › End': 'asks endConsoleSession',
  },
  '/settings/organization': {
    Rename: 'asks changeOrganization',
    Save: 'dialog Require a second factor',
    'Save › Require a second factor': 'asks changeOrganizationSettings',
  },
  '/settings/log-ins': {
    'Add a sign-in provider': 'dialog Add a sign-in provider',
    'Add a sign-in provider › Add rule': 'shows Group, or *@domain',
    'Add a sign-in provider › Add a sign-in provider': 'asks createConsoleLogIn',
    'End sign-ins with this provider': 'dialog End sign-ins with this provider',
    'End sign-ins with this provider › End': 'asks deleteConsoleLogIn',
  },
  '/settings/notifications': {
    'Add a webhook': 'dialog Add a webhook',
    'Add a webhook › Add a webhook': 'asks createNotificationDestination',
    'First pager': 'page /settings/notifications/$destinationId',
    pager: 'page /settings/notifications/$destinationId',
  },
  '/settings/notifications/$destinationId': {
    'Send test message': 'asks testNotificationDestination',
    'Rotate secret': 'dialog Rotate secret',
    'Rotate secret › Rotate secret': 'asks rotateNotificationSecret',
    'Delete webhook': 'dialog Delete webhook',
    'Delete webhook › Delete webhook': 'asks deleteNotificationDestination',
    Save: 'asks changeNotificationDestination',
  },
  '/settings/organizations': {
    'New organization': 'dialog New organization',
    'New organization › Create': 'asks createOrganization',
    'First organization': 'page /settings/organizations/$organizationId',
    organization: 'page /settings/organizations/$organizationId',
  },
  '/settings/organizations/$organizationId': {
    'Delete organization': 'dialog Delete organization',
    'Delete organization › Delete organization': 'asks deleteOrganization',
    Frontdoors: 'page /settings/frontdoors',
    'API accounts': 'page /settings/accounts',
    'OAuth clients': 'page /settings/clients',
    People: 'page /settings/people',
    Sessions: 'page /settings/sessions',
    Organization: 'page /settings/organization',
    'Console sign-in': 'page /settings/log-ins',
  },
  '/settings/keys': {
    'Rotate key': 'dialog Rotate key',
    'Rotate key › Rotate key': 'asks rotateSigningKey',
  },
  '/settings/names': {
    Release: 'dialog Release',
    'Release › Release': 'asks releaseRestingName',
  },
  '/settings/hostnames': {
    Any: 'address ?proof',
    Approve: 'dialog Approve',
    'Approve › Approve': 'asks grantHostname',
  },
  '/settings/installation': {
    'Open in a new tab': 'tab /docs',
    'Download backup': 'file',
  },
};

export const FRAME_EFFECTS: Rows = {
  Frontdoor: 'page /frontdoors/$frontdoorId/',
  Search: 'dialog Search',
  operator: 'shows Your account',
  Overview: 'page /frontdoors/$frontdoorId/',
  Shares: 'page /frontdoors/$frontdoorId/shares',
  Agents: 'page /frontdoors/$frontdoorId/agents',
  'Sign-in providers': 'page /frontdoors/$frontdoorId/providers',
  'Custom domains': 'page /frontdoors/$frontdoorId/domains',
  Failures: 'page /frontdoors/$frontdoorId/failures',
  'Activity log': 'page /activity',
  Settings: 'page /settings/frontdoors',
  Mesh: 'page /mesh/',
};

/** In this order, each in a color scheme of the system. */
export const MENU_EFFECTS: Readonly<Record<string, readonly [effect: string, colors: 'light' | 'dark']>> = {
  'Your account': ['leaves /console/account', 'dark'],
  'Keyboard shortcuts': ['dialog Keyboard shortcuts', 'dark'],
  'Take the tour': ['shows Step N of N', 'dark'],
  Light: ['shows language en, colors light', 'dark'],
  Dark: ['shows language en, colors dark', 'dark'],
  System: ['shows language en, colors light', 'light'],
  Deutsch: ['shows language de, colors light', 'light'],
  English: ['shows language en, colors light', 'light'],
  'Sign out': ['leaves /console/log-in', 'light'],
};
