/**
 * The command of each operation of the contract, so that an operation without a command does not compile.
 * Arguments and options are derived from the operation's parameters and schema.
 */
import type { OperationId } from '#contract';
import { AUTH_PROVIDER_TYPES, PROVIDER_TYPES } from '#domain/provider-types';
import { ACCESS_COMMANDS } from './access-command-table.ts';
import { DOMAIN_COMMANDS } from './domain-command-table.ts';
import { UPSTREAM_COMMANDS } from './upstream-command-table.ts';
import { FABRIC_COMMANDS } from './fabric-command-table.ts';
import { OVERVIEW_COMMANDS } from './overview-command-table.ts';
import { NOTIFICATION_COMMANDS } from './notification-command-table.ts';
import { PEOPLE_COMMANDS } from './people-command-table.ts';
import { RECORD_COMMANDS } from './record-command-table.ts';
import type { ElsewhereCommand, OperationCommand } from './operation-command.ts';

export { isOperationCommand } from './operation-command.ts';

const listed = { columns: ['id', 'name', 'scopes', 'createdAt'] } as const;
const shareColumns = ['token', 'status', 'access.summary', 'target', 'frontendEndpoints'] as const;
/** A duration on the command line, seconds in the API. */
const rotation = { called: { overlapSeconds: 'overlap' } } as const;
const asIs = { view: 'json' } as const;
/** Ids in examples: one of an environment, one of other resources. */
const ENVIRONMENT = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const ID = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';

/** One example per type of auth provider. */
const PROVIDER_EXAMPLES = [
  ...AUTH_PROVIDER_TYPES.map((type) => {
    const data = JSON.stringify(PROVIDER_TYPES[type].example);
    return `auth-providers create --name ${type.toLowerCase().replaceAll('_', '-')} --type ${type} --data '${data}'`;
  }),
  'auth-providers create --name staff --type OIDC --data @oidc.json',
];

export const OPERATION_COMMANDS: Readonly<Record<OperationId, OperationCommand | ElsewhereCommand>> = {
  createFrontdoor: { noun: 'frontdoors', verb: 'create', examples: ['frontdoors create --name edge'] },
  findFrontdoor: {
    noun: 'frontdoors',
    verb: 'find',
    examples: ['frontdoors find', `frontdoors find --organization ${ID}`],
  },
  listFrontdoors: {
    noun: 'frontdoors',
    verb: 'list',
    columns: ['id', 'name'],
    examples: ['frontdoors list'],
  },
  getFrontdoor: { noun: 'frontdoors', verb: 'get', examples: ['frontdoors get'] },
  changeFrontdoor: { noun: 'frontdoors', verb: 'change', examples: ['frontdoors change --name edge'] },
  deleteFrontdoor: { noun: 'frontdoors', verb: 'delete', examples: [`frontdoors delete ${ID}`] },
  listFrontends: {
    noun: 'frontends',
    verb: 'list',
    columns: ['id', 'publicName', 'urlTemplate'],
    examples: ['frontends list'],
  },

  ...OVERVIEW_COMMANDS,
  listEnvironments: {
    noun: 'environments',
    verb: 'list',
    columns: ['id', 'name', 'status'],
    examples: ['environments list', 'environments list --sort name,desc --limit 10'],
  },
  getEnvironment: {
    noun: 'environments',
    verb: 'get',
    examples: ['environments get laptop', `environments get ${ENVIRONMENT}`],
  },
  changeEnvironment: {
    noun: 'environments',
    verb: 'change',
    examples: ['environments change laptop --name "Ada laptop"'],
  },
  deleteEnvironment: {
    noun: 'environments',
    verb: 'delete',
    examples: [`environments delete ${ENVIRONMENT}`],
  },

  createEnrollment: {
    noun: 'agents',
    verb: 'enroll',
    once: 'enrollmentCode',
    isCodeOfAgent: true,
    next: 'FRONTDOOR_ENROLLMENT_TOKEN={enrollmentCode} frontdoor agent start --api {api}',
    called: { lifetimeSeconds: 'lifetime' },
    examples: [
      'agents enroll',
      'agents enroll --name laptop --lifetime 24h',
      'agents enroll --json',
      'agents enroll --name laptop --if-needed --out enrollment-code',
    ],
  },
  listEnrollments: {
    noun: 'agents',
    verb: 'enrollments',
    columns: ['id', 'name', 'state', 'expiresAt', 'environmentId'],
    entries: 'enrollments',
    examples: ['agents enrollments'],
  },
  cancelEnrollment: {
    noun: 'agents',
    verb: 'cancel',
    done: 'canceled',
    examples: ['agents cancel laptop', `agents cancel ${ID}`],
  },
  listAgents: {
    noun: 'agents',
    verb: 'list',
    columns: ['id', 'name', 'status', 'version'],
    examples: ['agents list'],
  },
  getAgentStatus: { noun: 'agents', verb: 'status', ...asIs, examples: [`agents status ${ENVIRONMENT}`] },
  getAgentVersion: { noun: 'agents', verb: 'version', examples: ['agents version laptop'] },
  deleteAgent: { noun: 'agents', verb: 'delete', examples: ['agents delete laptop'] },
  getBootstrapToken: {
    noun: 'agents',
    verb: 'jwt',
    examples: ['agents jwt - < code.txt', 'agents jwt CODE --json'],
  },

  listShares: {
    noun: 'shares',
    verb: 'list',
    columns: shareColumns,
    examples: [
      'shares list',
      'shares list --json-lines',
      'shares list --page 2 --size 50',
      'shares list --status FAILED --environment-id laptop --sort=-createdAt',
    ],
  },
  createShare: {
    noun: 'shares',
    verb: 'create',
    examples: [
      'shares create --name app --environment-id laptop --share-mode public --backend-mode proxy --target http://127.0.0.1:3000',
      'shares create --body @share.json',
    ],
  },
  getShare: { noun: 'shares', verb: 'get', examples: ['shares get app'] },
  changeShare: {
    noun: 'shares',
    verb: 'change',
    bodyOnly: { token: 'it is the argument, and cannot be changed' },
    examples: [
      'shares change app --target http://127.0.0.1:4000',
      'shares change app --auth-provider-id staff',
    ],
  },
  deleteShare: { noun: 'shares', verb: 'delete', examples: ['shares delete app'] },

  ...ACCESS_COMMANDS,
  ...UPSTREAM_COMMANDS,
  ...DOMAIN_COMMANDS,
  ...RECORD_COMMANDS,

  listAuthProviderTypes: {
    noun: 'auth-providers',
    verb: 'types',
    columns: ['type', 'displayName', 'description'],
    entries: 'types',
    examples: ['auth-providers types'],
  },
  getAuthProviderType: { noun: 'auth-providers', verb: 'type', examples: ['auth-providers type OIDC'] },
  getAuthProviderTypeSchema: {
    noun: 'auth-providers',
    verb: 'schema',
    ...asIs,
    examples: ['auth-providers schema OIDC'],
  },
  getProviderSchemaDocument: {
    elsewhere: ['auth-providers', 'schema'],
    reason: 'the same document by its $id, for validators',
  },
  listAuthProviders: {
    noun: 'auth-providers',
    verb: 'list',
    columns: ['id', 'name', 'type', 'enabled'],
    examples: ['auth-providers list --sort type,asc'],
  },
  createAuthProvider: {
    noun: 'auth-providers',
    verb: 'create',
    once: 'data',
    checkedBy: 'checkAuthProvider',
    examples: PROVIDER_EXAMPLES,
  },
  getAuthProvider: { noun: 'auth-providers', verb: 'get', examples: [`auth-providers get ${ID}`] },
  changeAuthProvider: {
    noun: 'auth-providers',
    verb: 'change',
    once: 'data',
    examples: ['auth-providers change staff --no-enabled', `auth-providers change ${ID} --name partners`],
  },
  replaceAuthProvider: {
    noun: 'auth-providers',
    verb: 'replace',
    once: 'data',
    examples: [`auth-providers replace ${ID} --body @provider.json`],
  },
  getAuthProviderUses: {
    noun: 'auth-providers',
    verb: 'uses',
    ...asIs,
    examples: ['auth-providers uses staff'],
  },
  checkAuthProvider: {
    noun: 'auth-providers',
    verb: 'check',
    view: 'provider-check',
    examples: ['auth-providers check staff'],
  },
  checkAuthProviderDraft: {
    noun: 'auth-providers',
    verb: 'check-draft',
    view: 'provider-check',
    examples: ['auth-providers check-draft --type OIDC --data @oidc.json'],
  },
  reserveAuthProvider: {
    noun: 'auth-providers',
    verb: 'reserve',
    ...asIs,
    examples: ['auth-providers reserve'],
  },
  deleteAuthProvider: { noun: 'auth-providers', verb: 'delete', examples: [`auth-providers delete ${ID}`] },
  listLoginSessions: {
    noun: 'auth-providers',
    verb: 'sessions list',
    columns: ['id', 'email', 'subject', 'shareToken', 'lastSeenAt', 'createdAt', 'expiresAt'],
    entries: 'sessions',
    examples: [
      'auth-providers sessions list staff',
      `auth-providers sessions list ${ID} --email ann@example.com`,
    ],
  },
  endLoginSessions: {
    elsewhere: ['auth-providers', 'sessions', 'end'],
    reason: 'ends one session, those of a person, or all',
  },
  endLoginSession: {
    elsewhere: ['auth-providers', 'sessions', 'end'],
    reason: 'ends one session, those of a person, or all',
  },

  getCaller: { elsewhere: ['whoami'], reason: 'also shows the profile and the address' },
  createOrganization: {
    noun: 'organizations',
    verb: 'create',
    examples: ['organizations create --name partners'],
  },
  listOrganizations: {
    noun: 'organizations',
    verb: 'list',
    columns: ['id', 'name'],
    examples: ['organizations list'],
  },
  getOrganization: { noun: 'organizations', verb: 'get', examples: ['organizations get'] },
  changeOrganization: {
    noun: 'organizations',
    verb: 'change',
    examples: ['organizations change --name "Our company"'],
  },
  deleteOrganization: {
    noun: 'organizations',
    verb: 'delete',
    examples: [`organizations delete ${ID}`],
  },
  getOrganizationSettings: { noun: 'organizations', verb: 'settings', examples: ['organizations settings'] },
  changeOrganizationSettings: {
    noun: 'organizations',
    verb: 'change-settings',
    examples: ['organizations change-settings --token-exchange'],
  },
  createApiAccount: {
    noun: 'api-accounts',
    verb: 'create',
    once: 'token',
    examples: [
      'api-accounts create --name build --scope frontdoor.read --scope frontdoor.write',
      'api-accounts create --name build --idempotency-key deploy-417-5f0c9a1e',
    ],
  },
  listApiAccounts: { noun: 'api-accounts', verb: 'list', ...listed, examples: ['api-accounts list'] },
  getApiAccount: { noun: 'api-accounts', verb: 'get', examples: [`api-accounts get ${ID}`] },
  changeApiAccount: {
    noun: 'api-accounts',
    verb: 'change',
    examples: ['api-accounts change build --name nightly'],
  },
  rotateApiAccount: {
    noun: 'api-accounts',
    verb: 'rotate',
    once: 'token',
    ...rotation,
    examples: [`api-accounts rotate ${ID}`, 'api-accounts rotate build --overlap 24h'],
  },
  endPreviousToken: {
    noun: 'api-accounts',
    verb: 'end-previous',
    done: 'ended',
    examples: [`api-accounts end-previous ${ID}`],
  },
  deleteApiAccount: { noun: 'api-accounts', verb: 'delete', examples: [`api-accounts delete ${ID}`] },
  createOauthClient: {
    noun: 'oauth-clients',
    verb: 'create',
    once: 'secret',
    examples: ['oauth-clients create --name console --scope frontdoor.read'],
  },
  listOauthClients: { noun: 'oauth-clients', verb: 'list', ...listed, examples: ['oauth-clients list'] },
  getOauthClient: { noun: 'oauth-clients', verb: 'get', examples: [`oauth-clients get ${ID}`] },
  changeOauthClient: {
    noun: 'oauth-clients',
    verb: 'change',
    examples: ['oauth-clients change portal --name website'],
  },
  rotateOauthClient: {
    noun: 'oauth-clients',
    verb: 'rotate',
    once: 'secret',
    ...rotation,
    examples: [`oauth-clients rotate ${ID}`, 'oauth-clients rotate console --overlap 24h'],
  },
  endPreviousSecret: {
    noun: 'oauth-clients',
    verb: 'end-previous',
    done: 'ended',
    examples: [`oauth-clients end-previous ${ID}`],
  },
  deleteOauthClient: { noun: 'oauth-clients', verb: 'delete', examples: [`oauth-clients delete ${ID}`] },

  ...PEOPLE_COMMANDS,
  ...NOTIFICATION_COMMANDS,

  listSigningKeys: {
    noun: 'signing-keys',
    verb: 'list',
    columns: ['id', 'algorithm', 'createdAt', 'activatesAt', 'expiresAt'],
    examples: ['signing-keys list'],
  },
  rotateSigningKey: { noun: 'signing-keys', verb: 'rotate', examples: ['signing-keys rotate'] },
  listRestingNames: {
    noun: 'resting-names',
    verb: 'list',
    columns: ['name', 'kind', 'organizationId', 'expiresAt'],
    entries: 'names',
    examples: ['resting-names list', `resting-names list --organization ${ID}`],
  },
  releaseRestingName: {
    noun: 'resting-names',
    verb: 'release',
    done: 'released',
    examples: ['resting-names release app.share.example.com'],
  },
  getInstallation: {
    noun: 'api',
    verb: 'installation',
    ...asIs,
    examples: ['api installation'],
  },
  getAuthorities: { noun: 'pki', verb: 'show', ...asIs, examples: ['pki show'] },
  rotateAuthority: {
    noun: 'pki',
    verb: 'rotate',
    called: { afterSeconds: 'after' },
    ...asIs,
    examples: ['pki rotate', 'pki rotate --kind root --after 14d'],
  },
  advanceAuthority: {
    noun: 'pki',
    verb: 'advance',
    ...asIs,
    examples: ['pki advance', 'pki advance --force'],
  },
  getSealingKey: { noun: 'secrets', verb: 'show', ...asIs, examples: ['secrets show'] },
  rotateSealingKey: { noun: 'secrets', verb: 'rotate', ...asIs, examples: ['secrets rotate'] },
  getBackup: { elsewhere: ['backup'], reason: 'writes a file and verifies it' },

  listAuditEvents: {
    noun: 'audit',
    verb: 'list',
    columns: ['at', 'actor', 'action', 'target', 'result', 'reason'],
    entries: 'events',
    examples: ['audit list --limit 50', 'audit list --action deleteShare --result ok'],
  },
  verifyAuditEvents: { noun: 'audit', verb: 'verify', examples: ['audit verify'] },

  ...FABRIC_COMMANDS,

  issueToken: { elsewhere: ['token'], reason: 'prints only the token' },
  getTokenKeys: { noun: 'api', verb: 'token-keys', ...asIs, examples: ['api token-keys'] },
  getOriginKeys: { noun: 'api', verb: 'origin-keys', ...asIs, examples: ['api origin-keys'] },
  getIssuerMetadata: { noun: 'api', verb: 'issuer', ...asIs, examples: ['api issuer'] },
  getOpenApi: { noun: 'api', verb: 'openapi', ...asIs, examples: ['api openapi > openapi.json'] },
  getApiPage: { elsewhere: undefined, reason: 'a page for browsers: {base_url}/docs' },
};
