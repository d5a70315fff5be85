/** The rows of shapes that stay on one machine: files of our programs, and what its processes send each other. */
import {
  acmeDnsAccountShape,
  agentAnswerShape,
  agentLockShape,
  agentRequestShape,
  certificateOrdersShape,
  challengeRecordShape,
  apiCredentialsShape,
  demoCredentialsShape,
  fileSharesShape,
  keptAccessesShape,
  keptControlPlanesShape,
  machineChangesShape,
  namedAddressShape,
  ownTargetsShape,
  portsFileShape,
  profilesShape,
  runningProgramShape,
  sampleReadyShape,
} from '#domain/agent-shapes';
import { fromOrderShape, toOrderShape } from '../../bin/order-messages.ts';
import { fromWorkerShape, toWorkerShape } from '../../bin/worker-messages.ts';
import { later, type ShapeRow } from './shape-row.ts';

const profile = {
  apiUrl: 'https://api',
  credentials: { kind: 'account', id: 'a', secret: 's' },
  organizationId: 'o',
  frontdoorId: 'f',
};
const ports = { http: 1, https: 0, api: 2, edgeApi: 3, ctrl: 4, edge: 5 };
const credentials = { organizationId: 'o', frontdoorId: 'f', accountId: 'a', apiToken: 't' };
const access = { share: 'a', host: '127.0.0.1', port: 9000 };
const workerCertificate = {
  type: 'certificate',
  name: 'a.share.localhost',
  outcome: 'obtained',
  certificate: { name: 'a.share.localhost', cert: 'c', key: 'k', isAutomatic: true },
  failure: null,
};
const wanted = {
  type: 'wanted',
  names: ['a.share.localhost'],
  needed: [{ name: 'a.share.localhost', organizationId: 'o', isCustom: true, isAlone: false }],
};
const orders = {
  directoryUrl: 'https://ca',
  pauses: [{ name: 'a', failures: 2, nextAtMs: 3 }],
  issued: [{ zone: 'z', atMs: 4, organizationId: 'o' }],
  orders: [{ organizationId: 'o', atMs: 5 }],
};
const noOrders = { directoryUrl: '', pauses: [], issued: [], orders: [] };
const order = {
  settings: { email: 'a@b' },
  accountKeyPem: 'k',
  version: '1',
  name: 'a.share.localhost',
  folder: '/d/acme',
};
const failedOrder = { type: 'failed', message: 'm', retryAfterMs: 1, isLimited: true };
const workerStart = {
  type: 'start',
  number: 1,
  workers: 2,
  options: { logLevel: 'info' },
  dataDir: '/d',
  version: '1',
  identity: { apiUrl: 'https://e' },
  plainPort: 80,
  securePort: null,
  ticketSecret: 'c2VjcmV0',
  certificates: null,
};

export const LOCAL_SHAPE_ROWS: Readonly<Record<string, readonly ShapeRow[]>> = {
  agentRequestShape: [
    {
      shape: agentRequestShape,
      example: { op: 'share', id: 1, mode: 'public', target: 'x', grants: [] },
      older: { op: 'share', id: 1, mode: 'public', target: 'x' },
      unknown: 'refused',
    },
    { shape: agentRequestShape, example: { op: 'status', id: 1 }, unknown: 'refused' },
    {
      shape: agentRequestShape,
      example: { op: 'access', id: 1, ...access, protocol: 'tcp' },
      older: { op: 'access', id: 1, ...access },
      unknown: 'refused',
    },
  ],
  agentAnswerShape: [
    { shape: agentAnswerShape, example: { id: 1, ok: true, result: { any: 1 } }, unknown: 'ignored' },
    {
      shape: agentAnswerShape,
      example: { id: 1, ok: false, error: { kind: 'internal', code: 'c', message: 'm' } },
      unknown: 'ignored',
      newer: { id: 1, ok: false, error: { kind: 'later', code: 'c', message: 'm', ...later } },
    },
  ],
  agentLockShape: [
    {
      shape: agentLockShape,
      example: { pid: 1, start: 's', socketPath: '/s', version: '1' },
      unknown: 'ignored',
    },
  ],
  ownTargetsShape: [
    {
      shape: ownTargetsShape,
      example: { targets: { app: 'http://127.0.0.1:1' } },
      unknown: 'ignored',
      newer: { targets: { app: 'http://127.0.0.1:1', other: later } },
    },
    { shape: ownTargetsShape, example: { targets: {} }, unknown: 'ignored' },
  ],
  fileSharesShape: [
    {
      shape: fileSharesShape,
      example: { shares: [{ name: 'app', id: 'id-a', upstream: ['hostHeader'] }] },
      unknown: 'ignored',
      newer: { shares: [{ name: 'app', id: 'id-a', upstream: ['hostHeader'], ...later }] },
    },
  ],
  machineChangesShape: [{ shape: machineChangesShape, example: { ids: ['0a1b2c3d'] }, unknown: 'ignored' }],
  namedAddressShape: [
    {
      shape: namedAddressShape,
      example: { name: 'a.test', address: '100.64.0.2' },
      unknown: 'ignored',
    },
  ],
  keptAccessesShape: [
    {
      shape: keptAccessesShape,
      example: { accesses: [{ ...access, protocol: 'tcp' }] },
      older: { accesses: [access] },
      unknown: 'ignored',
      newer: { accesses: [{ ...access, ...later }] },
    },
    { shape: keptAccessesShape, example: { accesses: [] }, unknown: 'ignored' },
  ],
  certificateOrdersShape: [
    { shape: certificateOrdersShape, example: orders, unknown: 'ignored' },
    {
      shape: certificateOrdersShape,
      example: noOrders,
      older: { pauses: [], issued: [] },
      unknown: 'ignored',
    },
  ],
  challengeRecordShape: [
    {
      shape: challengeRecordShape,
      example: {
        provider: 'hook',
        name: '_acme-challenge.a',
        target: '_acme-challenge.a',
        value: 'v',
        atMs: 1,
      },
      unknown: 'ignored',
    },
  ],
  acmeDnsAccountShape: [
    {
      shape: acmeDnsAccountShape,
      example: { server: 'https://a', username: 'u', password: 'p', fulldomain: 's.a', subdomain: 's' },
      unknown: 'ignored',
    },
  ],
  keptControlPlanesShape: [
    {
      shape: keptControlPlanesShape,
      example: { home: 'https://a:1', apiUrls: ['https://a:1', 'https://b:1'] },
      unknown: 'ignored',
    },
  ],
  runningProgramShape: [
    {
      shape: runningProgramShape,
      example: {
        program: 'up --demo',
        pid: 1,
        start: 'boot:1',
        version: '0.1.0',
        startedAtMs: 1,
        apiUrl: 'http://127.0.0.1:8081',
        baseUrl: 'https://api.share.example',
        edgeApiUrl: 'https://share.example',
        consoleUrl: null,
        gatewayUrl: 'http://127.0.0.1:8080',
      },
      unknown: 'ignored',
    },
  ],
  sampleReadyShape: [{ shape: sampleReadyShape, example: { port: 1, pid: 2 }, unknown: 'ignored' }],
  portsFileShape: [
    { shape: portsFileShape, example: ports, unknown: 'ignored' },
    {
      shape: portsFileShape,
      example: { ...ports, https: 0, ctrl: 0 },
      older: { http: 1, api: 2, edgeApi: 3, ctrl: 'four', edge: 5 },
      unknown: 'ignored',
    },
  ],
  apiCredentialsShape: [
    {
      shape: apiCredentialsShape,
      example: { accountId: 'a', apiToken: 't', frontdoorId: '' },
      older: { accountId: 'a', apiToken: 't' },
      unknown: 'ignored',
    },
  ],
  demoCredentialsShape: [
    {
      shape: demoCredentialsShape,
      example: { ...credentials, clientId: '', clientSecret: '' },
      older: credentials,
      unknown: 'ignored',
    },
  ],
  profilesShape: [
    { shape: profilesShape, example: { profiles: { default: profile } }, unknown: 'kept' },
    { shape: profilesShape, example: { profiles: { default: { ...profile, ...later } } }, unknown: 'kept' },
  ],
  toWorkerShape: [
    {
      shape: toWorkerShape,
      example: { ...workerStart, automatic: null },
      older: workerStart,
      unknown: 'ignored',
    },
    { shape: toWorkerShape, example: { type: 'reload' }, unknown: 'ignored' },
    { shape: toWorkerShape, example: { type: 'stop', drainMs: 1 }, unknown: 'ignored' },
    { shape: toWorkerShape, example: { type: 'identity', identity: { apiUrl: 'x' } }, unknown: 'ignored' },
    { shape: toWorkerShape, example: workerCertificate, unknown: 'ignored' },
  ],
  toOrderShape: [{ shape: toOrderShape, example: order, unknown: 'ignored' }],
  fromOrderShape: [
    { shape: fromOrderShape, example: { type: 'obtained', cert: 'c', key: 'k' }, unknown: 'ignored' },
    { shape: fromOrderShape, example: failedOrder, unknown: 'ignored' },
    { shape: fromOrderShape, example: { type: 'note', note: 'n' }, unknown: 'ignored' },
  ],
  fromWorkerShape: [
    { shape: fromWorkerShape, example: { type: 'ready', isFresh: true }, unknown: 'ignored' },
    { shape: fromWorkerShape, example: { type: 'alive' }, unknown: 'ignored' },
    { shape: fromWorkerShape, example: { type: 'failed', message: 'm' }, unknown: 'ignored' },
    { shape: fromWorkerShape, example: wanted, unknown: 'ignored' },
  ],
};
