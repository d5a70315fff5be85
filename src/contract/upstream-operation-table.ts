/** Operations on how requests of a share reach its service. */
import { gone, guarded, ok } from './operation.ts';
import { shareUpstreamChangeSchema, shareUpstreamSchema } from './schemas/upstream-schemas.ts';

const UPSTREAM = '/frontdoor/{frontdoorId}/shares/{token}/upstream';

export const upstreamOperations = [
  guarded({
    id: 'getShareUpstream',
    group: 'Shares',
    summary: 'Get the upstream settings of a share: how its requests reach the service',
    method: 'GET',
    path: UPSTREAM,
    answer: ok(shareUpstreamSchema),
    refusals: [404],
  }),
  guarded({
    id: 'replaceShareUpstream',
    group: 'Shares',
    summary: 'Replace the upstream settings of a share; absent fields get their defaults',
    method: 'PUT',
    path: UPSTREAM,
    body: shareUpstreamChangeSchema,
    answer: ok(shareUpstreamSchema),
    refusals: [404],
  }),
  guarded({
    id: 'changeShareUpstream',
    group: 'Shares',
    summary: 'Change the upstream settings of a share; absent fields keep their values',
    method: 'PATCH',
    path: UPSTREAM,
    body: shareUpstreamChangeSchema,
    answer: ok(shareUpstreamSchema),
    refusals: [404],
  }),
  guarded({
    id: 'resetShareUpstream',
    group: 'Shares',
    summary: 'Reset the upstream settings of a share to their defaults',
    method: 'DELETE',
    path: UPSTREAM,
    answer: gone,
    refusals: [404],
  }),
] as const;
