/** Operations on access to shares: share policies, explanations of decisions, and custom frontends. */
import {
  accessExplanationSchema,
  accessQuestionSchema,
  customFrontendChangeSchema,
  customFrontendSchema,
  dnsCheckListSchema,
  dnsRecordListSchema,
  newCustomFrontendSchema,
  policyComparisonSchema,
  sharePolicyReplacementSchema,
  sharePolicySchema,
} from './access-schemas.ts';
import { byName, byProvider, byStatus, byTime } from './list-filter-table.ts';
import { created, gone, guarded, ok, paging } from './operation.ts';
import { countedPageSchema } from './resource-schemas.ts';

const POLICY = '/frontdoor/{frontdoorId}/shares/{token}/policy';
const CUSTOM_FRONTENDS = '/frontdoor/{frontdoorId}/custom-frontends';
const byId = { uuidParameters: ['frontdoorId', 'customFrontendId'] } as const;

export const accessOperations = [
  guarded({
    id: 'getSharePolicy',
    group: 'Shares',
    summary: 'Get the access policy of a share',
    method: 'GET',
    path: POLICY,
    answer: ok(sharePolicySchema),
    refusals: [404],
  }),
  guarded({
    id: 'replaceSharePolicy',
    group: 'Shares',
    summary: 'Replace the access policy of a share; private shares are governed by their grants alone',
    method: 'PUT',
    path: POLICY,
    body: sharePolicyReplacementSchema,
    answer: ok(sharePolicySchema),
    refusals: [404],
  }),
  guarded({
    id: 'explainShareAccess',
    group: 'Shares',
    summary: 'Explain how a gateway would decide about a request, without sending the request',
    method: 'POST',
    path: `${POLICY}/explain`,
    scope: 'frontdoor.read',
    body: accessQuestionSchema,
    answer: ok(accessExplanationSchema),
    refusals: [404],
  }),
  guarded({
    id: 'compareSharePolicy',
    group: 'Shares',
    summary:
      'Compare a policy with the one of the share: which of the latest recorded requests it would decide differently',
    method: 'POST',
    path: `${POLICY}/compare`,
    scope: 'frontdoor.read',
    body: sharePolicyReplacementSchema,
    answer: ok(policyComparisonSchema),
    refusals: [404],
  }),
  guarded({
    id: 'listCustomFrontends',
    group: 'Custom frontends',
    summary: 'List custom frontends',
    method: 'GET',
    path: CUSTOM_FRONTENDS,
    query: [
      ...paging('hostname', 'id', 'createdAt', 'status'),
      ...[byName, byStatus('NEW', 'PENDING', 'ACTIVE'), byProvider, ...byTime],
    ],
    answer: ok(countedPageSchema(customFrontendSchema)),
  }),
  guarded({
    id: 'createCustomFrontend',
    group: 'Custom frontends',
    summary:
      "Create a custom frontend, which serves a frontdoor's public shares below a hostname of the owner",
    method: 'POST',
    path: CUSTOM_FRONTENDS,
    body: newCustomFrontendSchema,
    answer: created(customFrontendSchema),
    refusals: [404, 409],
  }),
  guarded({
    id: 'getCustomFrontend',
    group: 'Custom frontends',
    summary: 'Get a custom frontend',
    method: 'GET',
    path: `${CUSTOM_FRONTENDS}/{customFrontendId}`,
    ...byId,
    answer: ok(customFrontendSchema),
    refusals: [404],
  }),
  guarded({
    id: 'changeCustomFrontend',
    group: 'Custom frontends',
    summary: 'Change the auth providers of a custom frontend',
    method: 'PATCH',
    path: `${CUSTOM_FRONTENDS}/{customFrontendId}`,
    ...byId,
    body: customFrontendChangeSchema,
    answer: ok(customFrontendSchema),
    refusals: [404],
  }),
  guarded({
    id: 'deleteCustomFrontend',
    group: 'Custom frontends',
    summary: 'Delete a custom frontend',
    method: 'DELETE',
    path: `${CUSTOM_FRONTENDS}/{customFrontendId}`,
    ...byId,
    answer: gone,
    refusals: [404],
  }),
  guarded({
    id: 'listDnsRecords',
    group: 'Custom frontends',
    summary: 'List the DNS records that a custom frontend needs',
    method: 'GET',
    path: `${CUSTOM_FRONTENDS}/{customFrontendId}/dns-records`,
    ...byId,
    answer: ok(dnsRecordListSchema),
    refusals: [404],
  }),
  guarded({
    id: 'checkDnsRecords',
    group: 'Custom frontends',
    summary: 'Look up what DNS says now about the names below a custom frontend',
    method: 'GET',
    path: `${CUSTOM_FRONTENDS}/{customFrontendId}/dns-check`,
    ...byId,
    answer: ok(dnsCheckListSchema),
    refusals: [404, 429],
  }),
] as const;
