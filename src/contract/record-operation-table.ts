/** Operations on records of single requests: failures, and recordings that the owner enabled. */
import { gone, guarded, ok, unsortedPaging, type QueryParameter } from './operation.ts';
import {
  byEnvironment,
  byProvider,
  byStatusClass,
  byText,
  byTime,
  newestOrOldest,
} from './list-filter-table.ts';
import {
  failureGroupSchema,
  failureSchema,
  inspectedRequestEntrySchema,
  inspectedRequestSchema,
  inspectorReplacementSchema,
  inspectorSchema,
  replayedSchema,
  replaySchema,
  unroutedFailureSchema,
} from './schemas/record-schemas.ts';
import { countedPageSchema } from './schemas/resource-schemas.ts';

const group = 'Requests';
const INSPECTOR = '/frontdoor/{frontdoorId}/shares/{token}/inspector';

/** Which failures a list or its groups have. */
const failureFilters = [
  { name: 'shareToken', type: 'string', isRequired: false, summary: 'Only requests to this share' },
  { name: 'code', type: 'string', isRequired: false, summary: 'Only failures with this code' },
  { name: 'hop', type: 'string', isRequired: false, summary: 'Only failures at this hop' },
  byText('host, path, cause or code'),
  byStatusClass,
  byEnvironment,
  byProvider,
  ...byTime,
] as const satisfies readonly QueryParameter[];

export const recordOperations = [
  guarded({
    id: 'listFailures',
    group,
    summary: 'List requests to shares that failed or were refused, newest first',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/failures',
    query: [...unsortedPaging, newestOrOldest, ...failureFilters],
    answer: ok(countedPageSchema(failureSchema)),
  }),
  guarded({
    id: 'listFailureGroups',
    group,
    summary:
      'List the causes of failed and refused requests, the most frequent first, with the number of requests, the first and the latest',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/failure-groups',
    query: [...unsortedPaging, ...failureFilters],
    answer: ok(countedPageSchema(failureGroupSchema)),
  }),
  guarded({
    id: 'getFailure',
    group,
    summary: 'Explain why a request failed, by its error ID; records are kept for seven days',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/failures/{errorId}',
    answer: ok(failureSchema),
    refusals: [404],
  }),
  guarded({
    id: 'getUnroutedFailure',
    group,
    summary:
      'Explain why a request to a host without a share failed, by its error ID; records are kept for seven days',
    method: 'GET',
    path: '/failures/{errorId}',
    scope: 'frontdoor.admin',
    answer: ok(unroutedFailureSchema),
    refusals: [404],
  }),
  guarded({
    id: 'getInspector',
    group,
    summary: 'Get whether the requests of a share are recorded',
    method: 'GET',
    path: INSPECTOR,
    answer: ok(inspectorSchema),
    refusals: [404],
  }),
  guarded({
    id: 'setInspector',
    group,
    summary: 'Start or stop recording the requests of a share',
    method: 'PUT',
    path: INSPECTOR,
    body: inspectorReplacementSchema,
    answer: ok(inspectorSchema),
    refusals: [404],
  }),
  guarded({
    id: 'listInspectedRequests',
    group,
    summary: 'List the recorded requests of a share, newest first; the latest 200 are kept for one day',
    method: 'GET',
    path: `${INSPECTOR}/requests`,
    query: [...unsortedPaging, newestOrOldest, byText('host, target or method'), byStatusClass, ...byTime],
    answer: ok(countedPageSchema(inspectedRequestEntrySchema)),
    refusals: [404],
  }),
  guarded({
    id: 'deleteInspectedRequests',
    group,
    summary: 'Delete the recorded requests of a share',
    method: 'DELETE',
    path: `${INSPECTOR}/requests`,
    answer: gone,
    refusals: [404],
  }),
  guarded({
    id: 'getInspectedRequest',
    group,
    summary: 'Get a recorded request with its response',
    method: 'GET',
    path: `${INSPECTOR}/requests/{id}`,
    answer: ok(inspectedRequestSchema),
    refusals: [404],
  }),
  guarded({
    id: 'replayInspectedRequest',
    group,
    summary:
      'Replay a recorded request to its share, bypassing its policy and auth providers; the result is recorded under the returned ID',
    method: 'POST',
    path: `${INSPECTOR}/requests/{id}/replay`,
    body: replaySchema,
    answer: { status: 202, schema: replayedSchema },
    refusals: [404, 409],
  }),
] as const;
