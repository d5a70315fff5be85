/**
 * One row or more for each shape of our own wires and files: an example of its format, the text of the previous
 * version, and the text of a later version of the same format, each with the expected result. Rows are by the name of
 * the constant. Those of files, and of processes of one machine, are in `local-shape-rows.ts`.
 */
import { OPEN_RULES, sentAccessRules } from '#domain/access';
import {
  agentSelfShape,
  circuitClientShape,
  hostedShareRequestShape,
  hostedShareShape,
  hostedSharesShape,
} from '#domain/agent-shapes';
import {
  failuresShape,
  gatewayFeedShape,
  gatewayUsageShape,
  inspectionsShape,
  keptSharesShape,
  loginCallbackShape,
  loginRedeemedShape,
  loginRedemptionShape,
  loginReturnedShape,
  loginStartedShape,
  loginStartShape,
  providerQueryShape,
  requestLogShape,
  sessionFoundShape,
  sessionQueryShape,
  signInPageQueryShape,
  signInPageShape,
  trafficReportShape,
} from '#domain/gateway-shapes';
import { LOCAL_SHAPE_ROWS } from './local-shape-rows.ts';
import { later, type ShapeRow } from './shape-row.ts';

const share = {
  id: 'id-a',
  token: 'a',
  hosts: ['a.share.localhost'],
  authProviderIds: [],
  customHosts: [{ host: 'a.example.com', authProviderIds: ['p'] }],
  rules: OPEN_RULES,
  inspection: { maxBodyBytes: 0, untilMs: 1 },
  ingress: { kind: 'port', port: 20_000, hosts: ['a.share.localhost'] },
  upstream: { host: { scheme: 'http', authority: 'localhost', aliases: ['127.0.0.1:3000'] } },
  frontdoorId: 'f',
  environmentId: 'e',
  updatedAtMs: 1,
};
/** Without the rules that came after the first version. */
const olderShare = { ...share, rules: sentAccessRules(OPEN_RULES) };
const newerShare = {
  ...share,
  ...later,
  inspection: { ...share.inspection, ...later },
  upstream: { ...share.upstream, ...later },
};
const provider = {
  id: 'p',
  frontdoorId: 'f',
  name: 'keys',
  type: 'API_KEY',
  enabled: true,
  version: 1,
  tokens: null,
  apiKeys: { placement: 'bearer', name: '', keys: [{ name: 'one', hmac: '00', expiresAtMs: null }] },
};
/** A type unknown to this version is a value. */
const newerProvider = { ...provider, ...later };
const keys = {
  apiKeyPepper: 'cA==',
  identityKeys: [{ kid: 'k', privateKey: 'pem', publicJwk: { kty: 'EC' } }],
};
const list = { shares: [share], providers: [provider], zones: ['share.localhost'] };
const snapshot = { type: 'snapshot', version: 1, epoch: 'e', ...list, keys };
const delta = { type: 'delta', version: 2, set: [share], removed: ['id-b'] };
const replay = {
  type: 'replay',
  id: 'r',
  replayOf: 'o',
  shareId: 'id-a',
  method: 'GET',
  target: '/',
  headers: [['accept', '*/*']],
  body: '',
};
const kept = { version: 1, epoch: 'e', ...list };

const digest = 'b'.repeat(43);
const start = {
  shareId: 'id-a',
  host: 'a.share.localhost',
  port: 443,
  providerId: 'p',
  returnTo: '/x?y',
  browser: digest,
  address: '192.0.2.1',
};
const callback = {
  host: 'oauth.share.localhost',
  providerId: 'p',
  parameters: { code: 'c', state: 's' },
  address: '192.0.2.1',
};
const identity = {
  providerId: 'p',
  kind: 'session',
  subject: 's',
  email: null,
  name: 'Ann',
  groups: ['g'],
  claims: { any: [1, 'x'] },
};
const session = {
  id: 's',
  shareId: 'id-a',
  host: 'a.share.localhost',
  providerId: 'p',
  providerVersion: 1,
  identity,
  createdAtMs: 1,
  lastUsedAtMs: 2,
};
const newerSession = { ...session, ...later, identity: { ...identity, ...later } };
const redirect = { type: 'redirect', url: 'https://id.example' };
const redeemed = { type: 'session', token: 't', session, returnTo: '/' };
const usage = {
  keys: [{ providerId: 'p', name: 'one', lastUsedAtMs: 1 }],
  sessions: [{ id: 's', lastUsedAtMs: 1 }],
  certifiedZones: ['share.localhost'],
  domains: [{ host: 'app.example.com', shareId: 's', validUntilMs: null, problem: 'refused', retryAtMs: 1 }],
  tcpPorts: { first: 20_000, last: 20_099 },
  udpPorts: null,
};

const timings = { decidedMs: 0.1, circuitMs: null, firstByteMs: null, doneMs: 3 };
const why = { code: 'no-answer', hop: 'service', cause: 'a cause' };
const common = {
  id: 'record-1',
  at: 1,
  shareId: 'id-a',
  frontdoorId: 'f',
  status: 502,
  method: 'GET',
  host: 'a',
  client: '192.0.2.1',
  identity: null,
  decision: 'open',
  traceId: null,
  timings,
};
const failure = { ...common, ...why, path: '/' };
const message = { headers: [['accept', '*/*']], body: '', bodyBytes: 0, isTruncated: false };
const inspected = { ...common, replayOf: null, target: '/', failure: why, request: message, answer: message };
const logged = {
  ...common,
  outcome: 'refused',
  providerId: 'p',
  ...why,
  path: '/',
  bytesIn: 1,
  bytesOut: 2,
  leftOut: 3,
};
const sample = {
  startsAt: 10_000,
  shareId: 'id-a',
  environmentId: 'e',
  frontdoorId: 'f',
  requests: 2,
  errors: 1,
  byClass: [1, 0, 0, 1],
  bytesIn: 1,
  bytesOut: 2,
  latency: [10, 2],
};
const report = { source: 'process-1', batch: 1, samples: [sample] };
/** Gateways of earlier versions do not report classes of status. */
const { byClass: _byClass, ...earlierSample } = sample;
const classless = { ...sample, byClass: [0, 0, 0, 0] };

const wanted = { name: 'app', shareMode: 'public', backendMode: 'proxy', target: 'http://127.0.0.1:1' };
const hosted = {
  id: 'id-a',
  token: 'a',
  name: null,
  shareMode: 'public',
  backendMode: 'proxy',
  reserved: false,
  target: 'http://127.0.0.1:1',
  targetByAgent: true,
  epoch: 1,
  grants: [],
  frontendEndpoints: [],
  status: 'FAILED',
  failure: { count: 1, lastError: 'x', nextRetry: 'soon' },
};
const newerHosted = { ...hosted, ...later, failure: { ...hosted.failure, ...later } };

/** By the exported name of each shape; several rows where it has variants. */
export const SHAPE_ROWS: Readonly<Record<string, readonly ShapeRow[]>> = {
  ...LOCAL_SHAPE_ROWS,
  gatewayFeedShape: [
    {
      shape: gatewayFeedShape,
      example: snapshot,
      older: { ...snapshot, shares: [olderShare] },
      unknown: 'ignored',
      newer: { ...snapshot, shares: [newerShare], providers: [newerProvider], keys: { ...keys, ...later } },
    },
    {
      shape: gatewayFeedShape,
      example: delta,
      older: { ...delta, set: [olderShare] },
      unknown: 'ignored',
      newer: { ...delta, set: [newerShare] },
    },
    {
      shape: gatewayFeedShape,
      example: { type: 'shares', shares: snapshot.shares, isContinued: false },
      older: { type: 'shares', shares: [olderShare], isContinued: false },
      unknown: 'ignored',
      newer: { type: 'shares', shares: [newerShare], isContinued: false },
    },
    { shape: gatewayFeedShape, example: { type: 'heartbeat' }, unknown: 'ignored' },
    { shape: gatewayFeedShape, example: replay, unknown: 'ignored' },
  ],
  keptSharesShape: [
    {
      shape: keptSharesShape,
      example: kept,
      older: { ...kept, shares: [olderShare] },
      unknown: 'ignored',
      newer: { ...kept, shares: [newerShare], providers: [newerProvider] },
    },
    {
      shape: keptSharesShape,
      example: { ...kept, providers: [], zones: [] },
      older: { version: 1, epoch: 'e', shares: [olderShare] },
      unknown: 'ignored',
    },
  ],
  loginStartShape: [{ shape: loginStartShape, example: start, unknown: 'ignored' }],
  loginCallbackShape: [{ shape: loginCallbackShape, example: callback, unknown: 'ignored' }],
  loginRedemptionShape: [
    {
      shape: loginRedemptionShape,
      example: { shareId: 'id-a', host: 'a.share.localhost', code: 'c', browser: digest },
      unknown: 'ignored',
    },
  ],
  loginStartedShape: [
    { shape: loginStartedShape, example: redirect, unknown: 'ignored' },
    { shape: loginStartedShape, example: { type: 'refused', reason: 'denied' }, unknown: 'ignored' },
    {
      shape: loginStartedShape,
      example: { type: 'refused', reason: 'provider-failed' },
      unknown: 'ignored',
      newer: { type: 'refused', reason: 'a-later-reason' },
    },
  ],
  loginReturnedShape: [{ shape: loginReturnedShape, example: redirect, unknown: 'ignored' }],
  loginRedeemedShape: [
    {
      shape: loginRedeemedShape,
      example: redeemed,
      unknown: 'ignored',
      newer: { ...redeemed, session: newerSession },
    },
  ],
  signInPageQueryShape: [{ shape: signInPageQueryShape, example: { shareId: 'id-a' }, unknown: 'ignored' }],
  signInPageShape: [
    { shape: signInPageShape, example: { title: 'Example', logo: 'aWNvbg==' }, unknown: 'ignored' },
  ],
  sessionQueryShape: [{ shape: sessionQueryShape, example: { token: 't' }, unknown: 'ignored' }],
  sessionFoundShape: [
    { shape: sessionFoundShape, example: { session: null }, unknown: 'ignored' },
    { shape: sessionFoundShape, example: { session }, unknown: 'ignored', newer: { session: newerSession } },
  ],
  providerQueryShape: [{ shape: providerQueryShape, example: { providerId: 'p' }, unknown: 'ignored' }],
  gatewayUsageShape: [
    {
      shape: gatewayUsageShape,
      example: usage,
      unknown: 'ignored',
      newer: { ...usage, keys: [{ ...usage.keys[0], ...later }] },
    },
  ],
  failuresShape: [
    {
      shape: failuresShape,
      example: { failures: [failure] },
      unknown: 'ignored',
      newer: { failures: [{ ...failure, ...later, timings: { ...timings, ...later } }] },
    },
  ],
  inspectionsShape: [
    {
      shape: inspectionsShape,
      example: { requests: [inspected] },
      unknown: 'ignored',
      newer: { requests: [{ ...inspected, ...later, answer: { ...message, ...later } }] },
    },
  ],
  requestLogShape: [
    {
      shape: requestLogShape,
      example: { requests: [logged] },
      unknown: 'ignored',
      newer: { requests: [{ ...logged, ...later }] },
    },
  ],
  trafficReportShape: [
    {
      shape: trafficReportShape,
      example: report,
      unknown: 'ignored',
      newer: { ...report, samples: [{ ...sample, ...later }] },
    },
    {
      shape: trafficReportShape,
      example: { ...report, samples: [classless] },
      older: { ...report, samples: [earlierSample] },
      unknown: 'ignored',
    },
  ],
  hostedShareRequestShape: [
    { shape: hostedShareRequestShape, example: wanted, unknown: 'refused' },
    {
      shape: hostedShareRequestShape,
      example: { ...wanted, upstream: { hostHeader: 'localhost' }, domains: ['app.example.com'] },
      unknown: 'refused',
    },
    {
      shape: hostedShareRequestShape,
      example: { ...wanted, authProviders: ['keys'], policy: { emails: ['ann@example.com'] } },
      unknown: 'refused',
    },
  ],
  hostedShareShape: [
    { shape: hostedShareShape, example: hosted, unknown: 'ignored', newer: newerHosted },
    {
      shape: hostedShareShape,
      example: { ...hosted, upstream: { hostHeader: 'localhost' } },
      unknown: 'ignored',
      newer: { ...newerHosted, upstream: { hostHeader: 'localhost', ...later } },
    },
    {
      shape: hostedShareShape,
      example: {
        ...hosted,
        domains: [{ hostname: 'a.example.com', isServed: false, problem: 'none', record: 'TXT a b' }],
      },
      unknown: 'ignored',
    },
    { shape: hostedShareShape, example: { ...hosted, status: 'A_LATER_STATUS' }, unknown: 'ignored' },
    { shape: hostedShareShape, example: { ...hosted, backendMode: 'aLaterMode' }, unknown: 'ignored' },
  ],
  hostedSharesShape: [
    { shape: hostedSharesShape, example: [hosted], unknown: 'ignored', newer: [newerHosted] },
  ],
  circuitClientShape: [
    {
      shape: circuitClientShape,
      example: { frontdoor: 'client', address: '203.0.113.7', isSecure: true },
      unknown: 'ignored',
    },
  ],
  agentSelfShape: [{ shape: agentSelfShape, example: { version: '1.0.0' }, unknown: 'ignored' }],
};
