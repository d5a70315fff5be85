/** Which answers show resources of which kind, so that an event of the stream of changes refreshes what is on the screen. */
import type { OperationId } from '#contract';

type Answers = readonly OperationId[];

const SUMMARIES: Answers = [
  'getFrontdoorSummary',
  'getFrontdoorAttention',
  'getInstallationSummary',
  'search',
];
const MESH: Answers = ['getMesh', 'listLinks', 'getRoute', 'listCircuits', ...SUMMARIES];

const KINDS: Readonly<Record<string, Answers>> = {
  // What needs attention is known by the resources in it: the bell does not ask for a frontdoor that is gone.
  frontdoor: [
    'getFrontdoor',
    'findFrontdoor',
    'listFrontdoors',
    'getFrontdoorSummary',
    'getInstallationSummary',
    'search',
  ],
  share: [
    'listShares',
    'getShare',
    'getSharePolicy',
    'getShareUpstream',
    'listShareDomains',
    'getInspector',
    'getAgentStatus',
    'getAuthProviderUses',
    'listPolicies',
    'getPolicy',
    'getPolicyUses',
    'listEnvironments',
    'getEnvironment',
    'listAgents',
    ...SUMMARIES,
  ],
  environment: [
    'listEnvironments',
    'getEnvironment',
    'listAgents',
    'getAgentStatus',
    'getAgentVersion',
    'listEnrollments',
    'listShares',
    'getShare',
    ...SUMMARIES,
  ],
  enrollment: ['listEnrollments'],
  'auth-provider': [
    'listAuthProviders',
    'getAuthProvider',
    'getAuthProviderUses',
    'listConsoleLogIns',
    ...SUMMARIES,
  ],
  policy: [
    'listPolicies',
    'getPolicy',
    'getPolicyUses',
    'getSharePolicy',
    'listShares',
    'getShare',
    'search',
  ],
  'custom-frontend': [
    'listCustomFrontends',
    'getCustomFrontend',
    'listDnsRecords',
    'listFrontends',
    'checkDnsRecords',
    'listHostnameClaims',
    ...SUMMARIES,
  ],
  session: ['listLoginSessions'],
  failure: ['listFailures', 'listFailureGroups', 'getFrontdoorSummary'],
  'request-log': ['getRequestLog', 'listRequests'],
  // A repetition is recorded a moment after it was sent.
  request: ['listInspectedRequests', 'getInspectedRequest'],
  organization: [
    'listOrganizations',
    'getOrganization',
    'getOrganizationSettings',
    'getSignInPage',
    ...SUMMARIES,
  ],
  account: ['listApiAccounts', 'getApiAccount'],
  client: ['listOauthClients', 'getOauthClient'],
  person: ['listPeople', 'getPerson', 'listInvitations', 'getCaller', 'getFrontdoorAttention'],
  invitation: ['listInvitations'],
  'console-session': ['listConsoleSessions'],
  'console-log-in': ['listConsoleLogIns'],
  'notification-destination': [
    'listNotificationDestinations',
    'getNotificationDestination',
    'listNotificationDeliveries',
  ],
  'notification-delivery': ['listNotificationDeliveries', 'listNotificationDestinations'],
  'event-export': ['getEventExport'],
  'signing-key': ['listSigningKeys'],
  'resting-name': ['listRestingNames'],
  router: ['listRouters', 'getRouter', ...MESH],
  gateway: ['listGateways', 'getGateway', ...MESH],
  link: MESH,
  circuit: MESH,
  'fabric-service': ['listFabricServices', 'getFabricService', 'listTerminators', ...SUMMARIES],
  terminator: ['listTerminators', 'getTerminator', 'listFabricServices'],
};

/** They are measured or recorded; each change of the others is an event of the audit trail, too. */
const UNAUDITED: ReadonlySet<string> = new Set(['failure', 'request', 'link', 'circuit']);

const SETS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(KINDS).map(([kind, answers]) => [
    kind,
    new Set<string>(UNAUDITED.has(kind) ? answers : [...answers, 'listAuditEvents' satisfies OperationId]),
  ]),
);

/** Returns undefined for a kind that this console does not know: then everything is asked for again. */
export function answersOf(kind: string): ReadonlySet<string> | undefined {
  return SETS.get(kind);
}
