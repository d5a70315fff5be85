/** Operations that sum up a frontdoor, or the installation. */
import { guarded, ok } from './operation.ts';
import { frontdoorSummarySchema, installationSummarySchema } from './schemas/summary-schemas.ts';

export const summaryOperations = [
  guarded({
    id: 'getFrontdoorSummary',
    group: 'Frontdoors',
    summary:
      'Get counts of the resources of a frontdoor by state, versions, and certificates that expire soon',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/summary',
    answer: ok(frontdoorSummarySchema),
  }),
  guarded({
    id: 'getInstallationSummary',
    group: 'Installation',
    summary:
      'Get counts of the resources of the installation by state, versions, and certificates that expire soon',
    method: 'GET',
    path: '/summary',
    scope: 'frontdoor.admin',
    answer: ok(installationSummarySchema),
  }),
] as const;
