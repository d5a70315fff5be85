/**
 * The endpoint tables of the Management API's requirement, row by row: what is sent, what comes back, what must be
 * absent, and how the row pages, sorts, measures time and refuses. Written from the requirement alone, without the
 * contract: that both agree is what the test of these rows shows. `{…}` in values stands for what the test has made.
 */
import {
  BELOW_FRONTDOOR as BASE,
  countedPage,
  environmentEntryShape,
  environmentShape,
  frontdoorShape,
  plainPage,
  providerEntryShape,
  providerShape,
  shareShape,
  type RequestField,
  type ManagementRow,
  type AnswerShape,
} from './management-row.ts';

export const counts = {
  requests: 'integer',
  errors: 'integer',
  status2xx: 'integer',
  status3xx: 'integer',
  status4xx: 'integer',
  status5xx: 'integer',
  bytesIn: 'integer',
  bytesOut: 'integer',
  latencyMs: { p50: 'number', p95: 'number', p99: 'number' },
} as const satisfies AnswerShape;
export const sparklines = {
  frontdoorId: 'UUID',
  duration: 'duration',
  step: 'duration',
  start: 'time',
  sparklines: [{ scope: 'string', id: 'string', name: 'string', requests: ['integer'], errors: ['integer'] }],
} as const satisfies AnswerShape;
export const metrics = {
  frontdoorId: 'UUID',
  duration: 'duration',
  step: 'duration',
  start: 'time',
  end: 'time',
  totals: counts,
  samples: [{ timestamp: 'time', ...counts }],
} as const satisfies AnswerShape;

export const oidcData = {
  issuer: 'https://id.example',
  client_id: 'frontdoor',
  client_secret: 'a secret of the row test',
  scopes: ['openid', 'email'],
  supports_pkce: true,
};
const definition: Readonly<Record<string, RequestField>> = {
  name: { value: 'Staff', type: 'string' },
  type: { value: 'OIDC', type: 'string' },
  data: { value: oidcData, type: 'object' },
};

const frontdoorRows: readonly ManagementRow[] = [
  {
    table: 'Frontdoors',
    method: 'POST',
    path: '/frontdoor',
    body: {
      name: { value: 'West', type: 'string' },
      organizationId: { value: '{organizationId}', type: 'string', format: 'UUID' },
    },
    status: 201,
    answer: frontdoorShape,
    values: { name: 'West', organizationId: '{organizationId}' },
    location: '/frontdoor/',
  },
  {
    table: 'Frontdoors',
    method: 'GET',
    path: BASE,
    status: 200,
    answer: frontdoorShape,
    values: { id: '{frontdoorId}', organizationId: '{organizationId}' },
  },
  {
    table: 'Frontdoors',
    method: 'GET',
    path: '/frontdoor',
    query: 'organizationId={organizationId}',
    status: 200,
    answer: frontdoorShape,
    values: { id: '{frontdoorId}', organizationId: '{organizationId}' },
  },
  {
    table: 'Frontdoors',
    method: 'DELETE',
    path: BASE,
    at: { frontdoorId: '{doomedFrontdoorId}' },
    status: 204,
  },
  {
    table: 'Frontdoors',
    method: 'GET',
    path: `${BASE}/metrics`,
    query: 'duration=PT1H',
    status: 200,
    answer: metrics,
    values: { frontdoorId: '{frontdoorId}', duration: 'PT1H' },
    absent: ['environmentId'],
    hasDuration: true,
  },
  {
    table: 'Frontdoors',
    method: 'GET',
    path: `${BASE}/sparklines`,
    query: 'duration=PT1H',
    status: 200,
    answer: sparklines,
    values: { frontdoorId: '{frontdoorId}', duration: 'PT1H' },
    hasDuration: true,
  },
];

const environmentRows: readonly ManagementRow[] = [
  {
    table: 'Environments',
    method: 'GET',
    path: `${BASE}/environments`,
    query: 'page=0&size=20',
    status: 200,
    answer: plainPage(environmentEntryShape),
    absent: ['createdAt', 'totalElements', 'totalPages'],
    page: {
      isCounted: false,
      sort: ['name', 'id', 'status'],
      fields: ['name', 'id', 'createdAt', 'status'],
    },
  },
  {
    table: 'Environments',
    method: 'GET',
    path: `${BASE}/environments/{id}`,
    at: { id: '{environmentId}' },
    status: 200,
    answer: environmentShape,
    values: { id: '{environmentId}', name: 'host', status: 'ACTIVE' },
    missing: 'Environment',
  },
  {
    table: 'Environments',
    method: 'GET',
    path: `${BASE}/environments/{id}/metrics`,
    at: { id: '{environmentId}' },
    query: 'duration=PT1H',
    status: 200,
    answer: { ...metrics, environmentId: 'string' },
    values: { environmentId: '{environmentId}', duration: 'PT1H' },
    hasDuration: true,
    missing: 'Environment',
  },
  {
    table: 'Environments',
    method: 'DELETE',
    path: `${BASE}/environments/{id}`,
    at: { id: '{doomedEnvironmentId}' },
    status: 204,
    missing: 'Environment',
  },
];

const providerTypeRows: readonly ManagementRow[] = [
  {
    table: 'Auth provider types',
    method: 'GET',
    path: `${BASE}/auth-provider-types`,
    status: 200,
    answer: [{ type: 'string', displayName: 'string', description: 'string' }],
  },
  {
    table: 'Auth provider types',
    method: 'GET',
    path: `${BASE}/auth-provider-types/{type}`,
    at: { type: 'OIDC' },
    status: 200,
    answer: { type: 'string', description: 'string' },
    values: { type: 'OIDC' },
    absent: ['displayName'],
    missing: 'Auth provider type',
  },
  {
    table: 'Auth provider types',
    method: 'GET',
    path: `${BASE}/auth-provider-types/{type}/schema`,
    at: { type: 'OIDC' },
    status: 200,
    answer: 'object',
    values: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: '{baseUrl}/schemas/auth-providers/OIDC',
      type: 'object',
      required: ['issuer', 'client_id'],
    },
    missing: 'Auth provider type',
  },
];

const providerRows: readonly ManagementRow[] = [
  {
    table: 'Auth providers',
    method: 'GET',
    path: `${BASE}/auth-providers`,
    query: 'page=0&size=20&sort=name,asc',
    status: 200,
    answer: countedPage(providerEntryShape),
    absent: ['data'],
    page: {
      isCounted: true,
      sort: ['name', 'type', 'enabled', 'id'],
      fields: ['name', 'type', 'enabled', 'id', 'createdAt'],
    },
  },
  {
    table: 'Auth providers',
    method: 'GET',
    path: `${BASE}/auth-providers/{id}`,
    at: { id: '{providerId}' },
    status: 200,
    answer: providerShape,
    values: { id: '{providerId}', enabled: true, data: { ...oidcData, client_secret: '********' } },
    missing: 'Auth provider',
    uuid: 'id',
  },
  {
    table: 'Auth providers',
    method: 'POST',
    path: `${BASE}/auth-providers`,
    body: definition,
    status: 201,
    answer: providerShape,
    values: { name: 'Staff', type: 'OIDC', enabled: true, data: oidcData },
    location: `${BASE}/auth-providers/`,
  },
  {
    table: 'Auth providers',
    method: 'PATCH',
    path: `${BASE}/auth-providers/{id}`,
    at: { id: '{changedProviderId}' },
    body: { name: { value: 'Renamed', type: 'string', isOptional: true } },
    status: 200,
    answer: providerShape,
    values: { id: '{changedProviderId}', name: 'Renamed', type: 'OIDC', enabled: true },
    missing: 'Auth provider',
    uuid: 'id',
  },
  {
    table: 'Auth providers',
    method: 'PUT',
    path: `${BASE}/auth-providers/{id}`,
    at: { id: '{changedProviderId}' },
    body: definition,
    status: 200,
    answer: providerShape,
    values: { id: '{changedProviderId}', name: 'Staff', type: 'OIDC', enabled: true, data: oidcData },
    missing: 'Auth provider',
    uuid: 'id',
  },
  {
    table: 'Auth providers',
    method: 'DELETE',
    path: `${BASE}/auth-providers/{id}`,
    at: { id: '{doomedProviderId}' },
    status: 204,
    missing: 'Auth provider',
    uuid: 'id',
  },
];

const agentRows: readonly ManagementRow[] = [
  {
    table: 'Agents',
    method: 'POST',
    path: `${BASE}/agents/enrollments`,
    // Ours: the requirement's request has no body.
    body: { name: { value: 'Laptop', type: 'string', isOptional: true } },
    status: 201,
    answer: { frontdoorId: 'UUID', enrollmentCode: 'string', expiresAt: 'time' },
    values: { frontdoorId: '{frontdoorId}' },
  },
  {
    table: 'Agents',
    method: 'GET',
    path: `${BASE}/agents/{agentId}/status`,
    at: { agentId: '{environmentId}' },
    status: 200,
    answer: {
      frontdoorId: 'UUID',
      shares: [
        {
          token: 'string',
          shareMode: 'string',
          backendMode: 'string',
          reserved: 'boolean',
          frontendEndpoints: ['URL'],
          backendEndpoint: 'URL',
          status: 'string',
        },
      ],
    },
    values: { frontdoorId: '{frontdoorId}' },
    missing: 'Agent',
  },
  {
    table: 'Agents',
    method: 'GET',
    path: `${BASE}/agents/{agentId}/version`,
    at: { agentId: '{environmentId}' },
    status: 200,
    answer: { frontdoorId: 'UUID', version: 'string' },
    values: { frontdoorId: '{frontdoorId}', version: '0.0.0-test' },
    missing: 'Agent',
  },
  {
    table: 'Agents',
    method: 'DELETE',
    path: `${BASE}/agents/{agentId}`,
    at: { agentId: '{doomedAgentId}' },
    status: 204,
    missing: 'Agent',
  },
  {
    table: 'Agents',
    method: 'GET',
    path: '/frontdoor/agents/bootstrap-token/{enrollmentCode}',
    at: { enrollmentCode: '{enrollmentCode}' },
    status: 200,
    answer: { frontdoorId: 'UUID', token: 'string', expiresAt: 'time' },
    values: { frontdoorId: '{frontdoorId}' },
    isOpen: true,
  },
];

const shareRows: readonly ManagementRow[] = [
  {
    table: 'Shares',
    method: 'GET',
    path: `${BASE}/shares`,
    query: 'page=0&size=20',
    status: 200,
    answer: countedPage(shareShape),
    page: { isCounted: true, sort: ['name', 'id', 'createdAt', 'status'] },
  },
];

const authenticationRows: readonly ManagementRow[] = [
  {
    table: 'Authentication',
    method: 'POST',
    path: '/oauth/token',
    body: {
      grant_type: { value: 'client_credentials', type: 'string' },
      client_id: { value: '{clientId}', type: 'string' },
      client_secret: { value: '{clientSecret}', type: 'string' },
      audience: { value: '{baseUrl}/frontdoor', type: 'string' },
      scope: { value: 'frontdoor.read frontdoor.write', type: 'string' },
    },
    status: 200,
    answer: { access_token: 'string', token_type: 'string', expires_in: 'integer', scope: 'string' },
    values: { token_type: 'Bearer', expires_in: 3600, scope: 'frontdoor.read frontdoor.write' },
    isOpen: true,
    hasOwnRefusals: true,
  },
];

/** Every row of the requirement's tables, in its order. */
export const documentRows: readonly ManagementRow[] = [
  ...frontdoorRows,
  ...environmentRows,
  ...providerTypeRows,
  ...providerRows,
  ...agentRows,
  ...shareRows,
  ...authenticationRows,
];
