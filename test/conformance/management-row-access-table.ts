/** Operations on access to shares, as rows: policies, explanations, custom frontends. */
import {
  BELOW_FRONTDOOR as BASE,
  countedPage,
  type ManagementRow,
  type AnswerShape,
} from './management-row.ts';

const DATE_TIME_RULE = 'date-time (ISO 8601 with a time zone, as 2030-01-01T00:00:00Z)';

const policy: AnswerShape = {
  emails: ['string'],
  claims: [{ claim: 'string', anyOf: ['string'] }],
  basicAuth: [{ name: 'string', password: 'string' }],
  clientCertificate: 'object or null',
  ipAllow: ['string'],
  ipDeny: ['string'],
  publicPaths: ['string'],
  expiresAt: 'string or null',
  rateLimit: 'object or null',
  session: { idle: 'duration', absolute: 'duration' },
  allowedOrigins: ['string'],
  allowPreflights: 'boolean',
  responseTimeoutSeconds: 'integer or null',
  contact: 'string or null',
};
const customFrontend: AnswerShape = {
  id: 'UUID',
  frontdoorId: 'UUID',
  hostname: 'string',
  frontendId: 'string',
  authProviderIds: ['string'],
  status: 'string',
  domainName: 'string',
  createdAt: 'time',
};
const verdict: AnswerShape = { decision: 'string', status: 'integer or null', reason: 'string' };
const POLICY = `${BASE}/shares/{token}/policy`;
const ofShare = { at: { token: '{policyShareToken}' }, missing: 'Share' } as const;
const one = { uuid: 'customFrontendId', missing: 'Custom frontend' } as const;

export const accessRows: readonly ManagementRow[] = [
  {
    table: 'Policies of shares',
    method: 'PUT',
    path: POLICY,
    ...ofShare,
    body: {
      emails: { value: ['*@example.com'], type: 'array', isOptional: true },
      expiresAt: {
        value: '2040-01-01T00:00:00Z',
        type: 'string',
        format: 'date-time',
        rule: DATE_TIME_RULE,
        isOptional: true,
      },
      rateLimit: { value: { requests: 10, per: 'PT1M' }, type: 'object', isOptional: true },
      session: { value: { idle: 'PT1H' }, type: 'object', isOptional: true },
    },
    status: 200,
    answer: policy,
    values: {
      emails: ['*@example.com'],
      expiresAt: '2040-01-01T00:00:00.000Z',
      session: { idle: 'PT1H', absolute: 'P7D' },
    },
  },
  {
    table: 'Policies of shares',
    method: 'GET',
    path: POLICY,
    ...ofShare,
    status: 200,
    answer: policy,
    values: { emails: ['*@example.com'], basicAuth: [] },
  },
  {
    table: 'Policies of shares',
    method: 'POST',
    path: `${POLICY}/explain`,
    ...ofShare,
    body: {
      method: { value: 'POST', type: 'string', isOptional: true },
      address: {
        value: '192.0.2.7',
        type: 'string',
        format: 'address',
        rule: 'IP address',
        isOptional: true,
      },
      secure: { value: true, type: 'boolean', isOptional: true },
    },
    status: 200,
    answer: {
      decision: 'string',
      status: 'integer or null',
      reason: 'string',
      steps: [{ rule: 'string', outcome: 'string', detail: 'string' }],
    },
    values: { decision: 'allow', status: null, reason: 'network' },
  },
  {
    table: 'Policies of shares',
    method: 'POST',
    path: `${POLICY}/compare`,
    ...ofShare,
    body: {
      ipDeny: { value: ['192.0.2.0/24'], type: 'array', isOptional: true },
      allowPreflights: { value: true, type: 'boolean', isOptional: true },
    },
    status: 200,
    answer: {
      compared: 'integer',
      unknown: 'integer',
      since: 'string or null',
      different: [
        {
          ...{ id: 'string', at: 'time', method: 'string', host: 'string', path: 'string', client: 'string' },
          ...{ identity: 'string or null', before: verdict, after: verdict },
        },
      ],
    },
    values: { compared: 0, unknown: 0, since: null, different: [] },
  },
  {
    table: 'Custom frontends',
    method: 'POST',
    path: `${BASE}/custom-frontends`,
    body: {
      hostname: {
        value: 'rows.example.com',
        type: 'string',
        format: 'hostname',
        rule: 'hostname (a DNS name of two labels or more)',
      },
      frontendId: { value: '{frontendId}', type: 'string' },
      authProviderIds: { value: ['{providerId}'], type: 'array', isOptional: true },
    },
    status: 201,
    answer: customFrontend,
    values: {
      hostname: 'rows.example.com',
      domainName: '*.rows.example.com',
      frontdoorId: '{frontdoorId}',
      frontendId: '{frontendId}',
      authProviderIds: ['{providerId}'],
      status: 'NEW',
    },
    location: `${BASE}/custom-frontends/`,
  },
  {
    table: 'Custom frontends',
    method: 'GET',
    path: `${BASE}/custom-frontends`,
    status: 200,
    answer: countedPage(customFrontend),
    page: { isCounted: true, sort: ['hostname', 'id', 'createdAt', 'status'] },
  },
  {
    table: 'Custom frontends',
    method: 'GET',
    path: `${BASE}/custom-frontends/{customFrontendId}`,
    at: { customFrontendId: '{customFrontendId}' },
    status: 200,
    answer: customFrontend,
    values: { id: '{customFrontendId}' },
    ...one,
  },
  {
    table: 'Custom frontends',
    method: 'GET',
    path: `${BASE}/custom-frontends/{customFrontendId}/dns-records`,
    at: { customFrontendId: '{customFrontendId}' },
    status: 200,
    answer: [{ type: 'string', name: 'string', value: 'string', purpose: 'string' }],
    ...one,
  },
  {
    table: 'Custom frontends',
    method: 'GET',
    path: `${BASE}/custom-frontends/{customFrontendId}/dns-check`,
    at: { customFrontendId: '{customFrontendId}' },
    status: 200,
    answer: [
      {
        ...{ type: 'string', name: 'string', value: 'string', lookedUp: 'string' },
        ...{ state: 'string', found: ['string'], problem: 'string or null' },
      },
    ],
    ...one,
  },
  {
    table: 'Custom frontends',
    method: 'PATCH',
    path: `${BASE}/custom-frontends/{customFrontendId}`,
    at: { customFrontendId: '{customFrontendId}' },
    body: { authProviderIds: { value: ['{providerId}'], type: 'array', isOptional: true } },
    status: 200,
    answer: customFrontend,
    values: { authProviderIds: ['{providerId}'] },
    ...one,
  },
  {
    table: 'Auth providers',
    method: 'GET',
    path: `${BASE}/auth-providers/{id}/uses`,
    at: { id: '{providerId}' },
    status: 200,
    answer: {
      shares: [{ token: 'string', environmentId: 'string' }],
      shareCount: 'integer',
      customFrontends: [{ id: 'UUID', hostname: 'string' }],
      consoleLogInId: 'string or null',
    },
    uuid: 'id',
    missing: 'Auth provider',
  },
  {
    table: 'Custom frontends',
    method: 'DELETE',
    path: `${BASE}/custom-frontends/{customFrontendId}`,
    at: { customFrontendId: '{doomedCustomFrontendId}' },
    status: 204,
    ...one,
  },
];
