/** Operations on single requests, as rows: why one failed, and those that are recorded. */
import {
  BELOW_FRONTDOOR as BASE,
  countedPage,
  type ManagementRow,
  type AnswerShape,
} from './management-row.ts';

const about = {
  at: 'time',
  method: 'string',
  host: 'string',
  client: 'string',
  identity: 'string or null',
  decision: 'string',
  status: 'integer',
  traceId: 'string or null',
  timingsMs: 'object',
} as const satisfies AnswerShape;
const failure: AnswerShape = {
  errorId: 'string',
  shareToken: 'string or null',
  code: 'string',
  hop: 'string',
  cause: 'string',
  remedy: 'string',
  ...about,
  path: 'string',
};
const failureGroup: AnswerShape = {
  code: 'string',
  hop: 'string',
  count: 'integer',
  shares: 'integer',
  firstAt: 'time',
  lastAt: 'time',
  cause: 'string',
  remedy: 'string',
  status: 'integer',
  errorId: 'string',
  shareToken: 'string or null',
};
const inspector: AnswerShape = { enabled: 'boolean', maxBodyBytes: 'integer', until: 'string or null' };
const inspected = {
  id: 'string',
  replayOf: 'string or null',
  ...about,
  target: 'string',
  failure: 'object or null',
} as const satisfies AnswerShape;
const message: AnswerShape = {
  headers: [{ name: 'string', value: 'string' }],
  body: 'string or null',
  bodyBytes: 'integer',
  bodyIsWhole: 'boolean',
};

const logged: AnswerShape = {
  id: 'string',
  at: 'time',
  shareToken: 'string',
  outcome: 'string',
  status: 'integer',
  method: 'string',
  host: 'string',
  path: 'string',
  client: 'string',
  caller: 'string or null',
  authProviderId: 'string or null',
  decision: 'string',
  code: 'string or null',
  hop: 'string or null',
  cause: 'string or null',
  remedy: 'string or null',
  traceId: 'string or null',
  gatewayId: 'string',
  bytesIn: 'integer',
  bytesOut: 'integer',
  timingsMs: 'object',
  leftOut: 'integer',
};
const requestLog: AnswerShape = {
  enabled: 'boolean',
  keptHours: 'integer',
  maxEntries: 'integer',
  maxMebibytes: 'integer',
  entries: 'integer',
  usedBytes: 'integer',
};

const FAILURES = `${BASE}/failures`;
const INSPECTOR = `${BASE}/shares/{token}/inspector`;
const ofShare = { at: { token: '{inspectedShareToken}' }, missing: 'Share' } as const;
const ofRequest = {
  at: { token: '{inspectedShareToken}', id: '{inspectedRequestId}' },
  missing: 'Request',
} as const;

export const recordRows: readonly ManagementRow[] = [
  {
    table: 'Failed requests',
    method: 'GET',
    path: FAILURES,
    status: 200,
    answer: countedPage(failure),
  },
  {
    table: 'Failed requests',
    method: 'GET',
    path: `${FAILURES}/{errorId}`,
    at: { errorId: '{inspectedRequestId}' },
    status: 200,
    answer: failure,
    values: { errorId: '{inspectedRequestId}', method: 'GET', path: '/' },
    missing: 'Failure',
  },
  {
    table: 'Failed requests',
    method: 'GET',
    path: `${BASE}/failure-groups`,
    status: 200,
    answer: countedPage(failureGroup),
  },
  {
    table: 'Request log',
    method: 'GET',
    path: `${BASE}/requests`,
    status: 200,
    answer: { content: [logged], next: 'string or null' },
  },
  {
    table: 'Request log',
    method: 'GET',
    path: `${BASE}/requests/{requestId}`,
    at: { requestId: '{loggedRequestId}' },
    status: 200,
    answer: logged,
    values: { id: '{loggedRequestId}', method: 'GET', path: '/' },
    missing: 'Request',
  },
  {
    table: 'Request log',
    method: 'PUT',
    path: `${BASE}/request-log`,
    body: {
      enabled: { value: true, type: 'boolean' },
      keptHours: { value: 48, type: 'integer', isOptional: true },
    },
    status: 200,
    answer: requestLog,
    values: { enabled: true, keptHours: 48 },
  },
  {
    table: 'Request log',
    method: 'GET',
    path: `${BASE}/request-log`,
    status: 200,
    answer: requestLog,
  },
  {
    table: 'Recorded requests',
    method: 'GET',
    path: `${INSPECTOR}/requests`,
    ...ofShare,
    status: 200,
    answer: countedPage({ ...inspected, requestBytes: 'integer', answerBytes: 'integer' }),
  },
  {
    table: 'Recorded requests',
    method: 'GET',
    path: `${INSPECTOR}/requests/{id}`,
    ...ofRequest,
    status: 200,
    answer: { ...inspected, request: message, answer: message },
    values: { id: '{inspectedRequestId}', replayOf: null, method: 'GET', target: '/' },
  },
  {
    table: 'Recorded requests',
    method: 'POST',
    path: `${INSPECTOR}/requests/{id}/replay`,
    ...ofRequest,
    body: { headers: { value: [{ name: 'X-Row', value: '1' }], type: 'array', isOptional: true } },
    status: 202,
    answer: { id: 'string' },
  },
  {
    table: 'Recorded requests',
    method: 'PUT',
    path: INSPECTOR,
    ...ofShare,
    body: {
      enabled: { value: true, type: 'boolean' },
      maxBodyBytes: { value: 1_024, type: 'integer', isOptional: true },
    },
    status: 200,
    answer: inspector,
    values: { enabled: true, maxBodyBytes: 1_024 },
  },
  {
    table: 'Recorded requests',
    method: 'GET',
    path: INSPECTOR,
    ...ofShare,
    status: 200,
    answer: inspector,
  },
  {
    table: 'Recorded requests',
    method: 'DELETE',
    path: `${INSPECTOR}/requests`,
    at: { token: '{doomedInspectedShareToken}' },
    status: 204,
    missing: 'Share',
  },
];
