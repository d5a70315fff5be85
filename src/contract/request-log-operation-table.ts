/** Operations on the request log of a frontdoor: requests to all of its shares (ADR 0112). */
import { REQUEST_OUTCOMES } from '#domain/gateway-shapes';
import { byStatusClass, byText, byTime } from './list-filter-table.ts';
import { guarded, ok, type QueryParameter } from './operation.ts';
import {
  loggedRequestPageSchema,
  loggedRequestSchema,
  requestLogReplacementSchema,
  requestLogSchema,
} from './schemas/request-log-schemas.ts';

const group = 'Requests';
const LOG = '/frontdoor/{frontdoorId}/request-log';

function only(name: string, summary: string): QueryParameter {
  return { name, type: 'string', isRequired: false, summary };
}

const filters: readonly QueryParameter[] = [
  byText('host, path, caller, cause or code'),
  only('shareToken', 'Only requests to the share with this token, also if it was deleted'),
  {
    name: 'outcome',
    type: 'string',
    isRequired: false,
    summary:
      'Only requests with this outcome: served; refused by an access rule; failed; broken-off after the response had begun; client-gone; or unserved for all but served',
    values: [...REQUEST_OUTCOMES, 'unserved'],
  },
  byStatusClass,
  {
    name: 'status',
    type: 'integer',
    isRequired: false,
    summary: 'Only requests with this status',
    minimum: 0,
    maximum: 999,
  },
  only('method', 'Only requests with this method, such as POST'),
  only('host', 'Only requests to this host'),
  only('client', 'Only requests from this address'),
  only('caller', 'Only requests of this person or API key: the identity as entries show it'),
  {
    name: 'authProviderId',
    type: 'UUID',
    isRequired: false,
    summary: 'Only requests whose caller this auth provider identified',
  },
  only('code', 'Only requests that were refused or failed with this code'),
  {
    name: 'minMs',
    type: 'integer',
    isRequired: false,
    summary: 'Only requests that took at least this many milliseconds',
    minimum: 0,
    maximum: 86_400_000,
  },
  ...byTime,
];

export const requestLogOperations = [
  guarded({
    id: 'listRequests',
    group,
    summary: 'List the requests to all shares of a frontdoor, newest first',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/requests',
    query: [
      {
        name: 'limit',
        type: 'integer',
        isRequired: false,
        summary: 'Maximum number of entries in the response, 1 to 1000; 50 by default',
        minimum: 1,
        maximum: 1_000,
      },
      {
        name: 'cursor',
        type: 'string',
        isRequired: false,
        summary: 'Continue after an earlier response: its next',
        pattern: '^[0-9]{1,16}\\.[A-Za-z0-9_-]{1,64}$',
        rule: 'next of an earlier response',
      },
      ...filters,
    ],
    answer: ok(loggedRequestPageSchema),
  }),
  guarded({
    id: 'getRequest',
    group,
    summary: 'Get a request from the log by its ID, which is the error ID of its page if it failed',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/requests/{requestId}',
    answer: ok(loggedRequestSchema),
    refusals: [404],
  }),
  guarded({
    id: 'getRequestLog',
    group,
    summary: 'Get how long and how much of the request log is kept, and how much it holds',
    method: 'GET',
    path: LOG,
    answer: ok(requestLogSchema),
  }),
  guarded({
    id: 'setRequestLog',
    group,
    summary: 'Set how long and how much of the request log is kept; absent fields get their defaults',
    method: 'PUT',
    path: LOG,
    scope: 'frontdoor.admin',
    body: requestLogReplacementSchema,
    answer: ok(requestLogSchema),
  }),
  guarded({
    id: 'exportRequests',
    group,
    summary: 'Export the request log, newest first, as lines of JSON or as CSV',
    method: 'GET',
    path: `${LOG}/export`,
    query: [
      {
        name: 'format',
        type: 'string',
        isRequired: false,
        summary: 'jsonl (the default) or csv',
        values: ['jsonl', 'csv'],
      },
      ...filters,
    ],
    answer: {
      status: 200,
      schema: undefined,
      otherForms: {
        'application/x-ndjson': 'One entry of the log on each line, as the list has it',
        'text/csv': 'One entry of the log on each line, with a line of names first',
      },
    },
    // The number of exports at a time is limited.
    refusals: [429],
  }),
] as const;
