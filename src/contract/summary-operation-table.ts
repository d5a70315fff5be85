/** Operations that sum up a frontdoor, or the installation. */
import { guarded, ok } from './operation.ts';
import {
  frontdoorAttentionSchema,
  frontdoorSummarySchema,
  installationSummarySchema,
} from './schemas/summary-schemas.ts';

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
    id: 'getFrontdoorAttention',
    group: 'Frontdoors',
    summary:
      'Get what needs attention in a frontdoor: failing shares, disconnected agents, domains and people that wait, certificates that expire',
    method: 'GET',
    path: '/frontdoor/{frontdoorId}/attention',
    answer: ok(frontdoorAttentionSchema),
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
