/**
 * Who may do what, written down by hand and apart from the operations: each operation with the scope that it asks for
 * and whose things it is about. An operation that is not here does not compile, nor does one that is no more.
 */
import type { OperationId } from '#contract';

export type Rule = readonly [
  needs: 'nothing' | 'read' | 'write' | 'admin',
  /** Named by a frontdoor, by an organization that must be the caller's unless it has admin, or by nobody. */
  of: 'a frontdoor' | 'an organization' | 'nobody',
];

const open: Rule = ['nothing', 'nobody'];
const reads: Rule = ['read', 'a frontdoor'];
const writes: Rule = ['write', 'a frontdoor'];
const administers: Rule = ['admin', 'nobody'];

export const AUTHORIZATION_RULES: Readonly<Record<OperationId, Rule>> = {
  createFrontdoor: ['write', 'an organization'],
  findFrontdoor: ['read', 'an organization'],
  getFrontdoor: reads,
  deleteFrontdoor: writes,
  listFrontends: reads,
  getFrontdoorMetrics: reads,
  getFrontdoorSparklines: reads,
  getEnvironmentMetrics: reads,
  listEnvironments: reads,
  getEnvironment: reads,
  deleteEnvironment: writes,
  createEnrollment: writes,
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
  getCaller: ['read', 'nobody'],
  createOrganization: administers,
  listOrganizations: administers,
  getOrganization: administers,
  changeOrganization: administers,
  deleteOrganization: administers,
  getOrganizationSettings: administers,
  changeOrganizationSettings: administers,
  listFrontdoors: ['read', 'an organization'],
  createApiAccount: administers,
  listApiAccounts: administers,
  getApiAccount: administers,
  rotateApiAccount: administers,
  deleteApiAccount: administers,
  createOauthClient: administers,
  listOauthClients: administers,
  getOauthClient: administers,
  rotateOauthClient: administers,
  deleteOauthClient: administers,
  listSigningKeys: administers,
  rotateSigningKey: administers,
  getBackup: administers,
  listAuditEvents: ['read', 'an organization'],
  verifyAuditEvents: administers,
  createRouter: administers,
  listRouters: administers,
  deleteRouter: administers,
  createGateway: administers,
  listGateways: administers,
  deleteGateway: administers,
  issueToken: open,
  getTokenKeys: open,
  getIssuerMetadata: open,
  getOpenApi: open,
  getApiPage: open,
};
