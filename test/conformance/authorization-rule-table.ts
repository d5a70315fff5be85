/**
 * The rules of authorization, written by hand and apart from the operations: each operation with its scope and with
 * the owner of its resources. A missing or a superfluous operation does not compile.
 */
import type { OperationId } from '#contract';
import type { Role } from '#domain';

export type Rule = readonly [
  needs: 'nothing' | 'read' | 'write' | 'organization' | 'admin',
  /**
   * The owner is named by a frontdoor, or by an organization that must be the caller's unless it has admin, or is not
   * named.
   */
  of: 'a frontdoor' | 'an organization' | 'nobody',
];

const open: Rule = ['nothing', 'nobody'];
const reads: Rule = ['read', 'a frontdoor'];
const writes: Rule = ['write', 'a frontdoor'];
const administers: Rule = ['admin', 'nobody'];
const administersOwn: Rule = ['organization', 'an organization'];
/** The path or the body names the resource; in another organization it is not found. */
const administersOne: Rule = ['organization', 'nobody'];

export const AUTHORIZATION_RULES: Readonly<Record<OperationId, Rule>> = {
  createFrontdoor: ['write', 'an organization'],
  findFrontdoor: ['read', 'an organization'],
  getFrontdoor: reads,
  changeFrontdoor: writes,
  deleteFrontdoor: writes,
  listFrontends: reads,
  getFrontdoorMetrics: reads,
  getFrontdoorSparklines: reads,
  getEnvironmentMetrics: reads,
  getShareMetrics: reads,
  getShareSparklines: reads,
  getFrontdoorSummary: reads,
  getInstallationSummary: administers,
  search: ['read', 'nobody'],
  listEnvironments: reads,
  getEnvironment: reads,
  changeEnvironment: writes,
  deleteEnvironment: writes,
  createEnrollment: writes,
  listEnrollments: reads,
  cancelEnrollment: writes,
  listAgents: reads,
  getAgentStatus: reads,
  getAgentVersion: reads,
  deleteAgent: writes,
  getBootstrapToken: open,
  listShares: reads,
  createShare: writes,
  getShare: reads,
  changeShare: writes,
  deleteShare: writes,
  listFailures: reads,
  getFailure: reads,
  getUnroutedFailure: administers,
  getInspector: reads,
  setInspector: writes,
  listInspectedRequests: reads,
  deleteInspectedRequests: writes,
  getInspectedRequest: reads,
  replayInspectedRequest: writes,
  getSharePolicy: reads,
  replaceSharePolicy: writes,
  explainShareAccess: reads,
  listCustomFrontends: reads,
  createCustomFrontend: writes,
  getCustomFrontend: reads,
  deleteCustomFrontend: writes,
  listDnsRecords: reads,
  followFrontdoorChanges: reads,
  followInstallationChanges: administers,
  listAuthProviderTypes: reads,
  getAuthProviderType: reads,
  getAuthProviderTypeSchema: reads,
  getProviderSchemaDocument: open,
  listAuthProviders: reads,
  createAuthProvider: writes,
  getAuthProvider: reads,
  changeAuthProvider: writes,
  replaceAuthProvider: writes,
  deleteAuthProvider: writes,
  checkAuthProvider: reads,
  listLoginSessions: reads,
  endLoginSessions: writes,
  endLoginSession: writes,
  getCaller: ['read', 'nobody'],
  createOrganization: administers,
  listOrganizations: administers,
  getOrganization: administersOwn,
  changeOrganization: administersOwn,
  deleteOrganization: administers,
  getOrganizationSettings: administersOwn,
  changeOrganizationSettings: administersOwn,
  listFrontdoors: ['read', 'an organization'],
  createApiAccount: administersOne,
  listApiAccounts: administersOwn,
  getApiAccount: administersOne,
  changeApiAccount: administersOne,
  rotateApiAccount: administersOne,
  endPreviousToken: administersOne,
  deleteApiAccount: administersOne,
  createOauthClient: administersOne,
  listOauthClients: administersOwn,
  getOauthClient: administersOne,
  changeOauthClient: administersOne,
  rotateOauthClient: administersOne,
  endPreviousSecret: administersOne,
  deleteOauthClient: administersOne,
  listPeople: administersOwn,
  getPerson: administersOne,
  changePerson: administersOne,
  deletePerson: administersOne,
  createInvitation: administersOne,
  listInvitations: administersOwn,
  deleteInvitation: administersOne,
  createConsoleLogIn: administersOne,
  listConsoleLogIns: administersOwn,
  deleteConsoleLogIn: administersOne,
  listConsoleSessions: ['read', 'an organization'],
  endConsoleSession: ['read', 'nobody'],
  listSigningKeys: administers,
  rotateSigningKey: administers,
  listRestingNames: administers,
  releaseRestingName: administers,
  getBackup: administers,
  getInstallation: ['read', 'nobody'],
  listAuditEvents: ['read', 'an organization'],
  verifyAuditEvents: administers,
  createRouter: administers,
  listRouters: administers,
  getRouter: administers,
  deleteRouter: administers,
  createGateway: administers,
  listGateways: administers,
  getGateway: administers,
  deleteGateway: administers,
  listLinks: administers,
  listCircuits: administers,
  endCircuit: administers,
  listFabricServices: administers,
  createFabricService: administers,
  getFabricService: administers,
  changeFabricService: administers,
  deleteFabricService: administers,
  listTerminators: administers,
  createTerminator: administers,
  getTerminator: administers,
  changeTerminator: administers,
  deleteTerminator: administers,
  inspectRouters: administers,
  issueToken: open,
  getTokenKeys: open,
  getOriginKeys: open,
  getIssuerMetadata: open,
  getOpenApi: open,
  getApiPage: open,
};

const read = ['frontdoor.read'];
const readWrite = [...read, 'frontdoor.write'];
const organization = [...readWrite, 'frontdoor.organization'];

export const SCOPES_OF_ROLES: Readonly<Record<Role, readonly string[]>> = {
  reader: read,
  editor: readWrite,
  administrator: organization,
  operator: [...organization, 'frontdoor.admin'],
};

/** Sessions at the console need a log-in of the last 15 minutes for them. */
export const NEED_RECENT_LOG_IN: ReadonlySet<OperationId> = new Set([
  ...(['deleteFrontdoor', 'deleteOrganization', 'getBackup', 'rotateSigningKey'] as const),
  ...(['changePerson', 'deletePerson', 'createInvitation', 'createConsoleLogIn'] as const),
  ...(['createApiAccount', 'rotateApiAccount', 'createOauthClient', 'rotateOauthClient'] as const),
]);
