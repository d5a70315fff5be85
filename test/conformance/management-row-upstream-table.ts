/** Rows of the Management API's requirement: how requests of a share reach its service. */
import {
  BELOW_FRONTDOOR as BASE,
  type AnswerShape,
  type ManagementRow,
  type RequestField,
} from './management-row.ts';

const UPSTREAM = `${BASE}/shares/{token}/upstream`;
const ofShare = { at: { token: '{policyShareToken}' }, missing: 'Share' } as const;
const settings: AnswerShape = {
  hostHeader: 'string',
  lenient: 'boolean',
  requestHeaders: [{ action: 'string', name: 'string', 'value?': 'string' }],
  responseHeaders: [{ action: 'string', name: 'string', 'value?': 'string' }],
  compression: ['string'],
  connectTimeoutSeconds: 'integer',
  idleTimeoutSeconds: 'integer',
  proxyProtocol: 'string',
  routes: [{ path: 'string', target: 'string', 'stripPath?': 'boolean' }],
  answers: [
    {
      path: 'string',
      'text?': 'string',
      'contentType?': 'string',
      'redirectTo?': 'string',
      'status?': 'integer',
    },
  ],
  maintenance: 'boolean',
  maintenanceText: 'string',
  maintenanceRetrySeconds: 'integer',
  errorPage: 'string or null',
  tlsPin: 'string or null',
  tlsCa: 'string or null',
  tlsServerName: 'string or null',
  tlsClient: 'string or null',
  tlsInsecure: 'boolean',
};
const PIN = 'c3'.repeat(32);
const headers = (...value: readonly object[]): RequestField => ({ value, type: 'array', isOptional: true });
const hostHeader = (value: string): RequestField => ({
  value,
  type: 'string',
  rule: 'preserve, target or a host name such as localhost:3000',
  isOptional: true,
});

export const upstreamRows: readonly ManagementRow[] = [
  {
    table: 'Upstream settings of shares',
    method: 'PUT',
    path: UPSTREAM,
    ...ofShare,
    body: {
      hostHeader: hostHeader('target'),
      lenient: { value: true, type: 'boolean', isOptional: true },
      requestHeaders: headers({ action: 'set', name: 'X-Tenant', value: 'blue' }),
      responseHeaders: headers({ action: 'remove', name: 'Server' }),
      routes: { value: [{ path: '/api', target: 'http://127.0.0.1:4000' }], type: 'array', isOptional: true },
      answers: { value: [{ path: '/old/*', redirectTo: '/new/*' }], type: 'array', isOptional: true },
      maintenance: { value: true, type: 'boolean', isOptional: true },
      maintenanceText: { value: 'Back at 18:00 UTC', type: 'string', isOptional: true },
      maintenanceRetrySeconds: { value: 600, type: 'integer', isOptional: true },
      errorPage: { value: '<h1>Back soon</h1>', type: 'string', isOptional: true },
      tlsPin: {
        value: PIN,
        type: 'string',
        rule: 'SHA-256 fingerprint (64 hexadecimal digits, with or without colons)',
        isOptional: true,
      },
      tlsServerName: {
        value: 'Pve.Example.com',
        type: 'string',
        rule: 'host name such as pve.example.com',
        isOptional: true,
      },
      tlsClient: {
        value: 'plc',
        type: 'string',
        rule: 'name of 1 to 63 letters, digits, - and _, such as plc',
        isOptional: true,
      },
      tlsInsecure: { value: false, type: 'boolean', isOptional: true },
    },
    status: 200,
    answer: settings,
    values: {
      hostHeader: 'target',
      lenient: true,
      maintenance: true,
      maintenanceText: 'Back at 18:00 UTC',
      maintenanceRetrySeconds: 600,
      tlsPin: PIN,
      tlsCa: null,
      tlsServerName: 'pve.example.com',
      tlsClient: 'plc',
      tlsInsecure: false,
    },
  },
  {
    table: 'Upstream settings of shares',
    method: 'PATCH',
    path: UPSTREAM,
    ...ofShare,
    body: { hostHeader: hostHeader('App.Test:8080') },
    status: 200,
    answer: settings,
    values: { hostHeader: 'app.test:8080', lenient: true },
  },
  {
    table: 'Upstream settings of shares',
    method: 'GET',
    path: UPSTREAM,
    ...ofShare,
    status: 200,
    answer: settings,
    values: { hostHeader: 'app.test:8080', lenient: true },
  },
  { table: 'Upstream settings of shares', method: 'DELETE', path: UPSTREAM, ...ofShare, status: 204 },
];
