/** Operations on shared policies: rules of access with a name, which shares use instead of rules of their own. ADR 0113. */
import { byName } from './list-filter-table.ts';
import { created, gone, guarded, ok, paging } from './operation.ts';
import {
  newPolicySchema,
  policyEntrySchema,
  policyReplacementSchema,
  policyRulesSchema,
  policySchema,
  policyUseComparisonSchema,
  policyUsesSchema,
} from './schemas/policy-schemas.ts';
import { countedPageSchema } from './schemas/resource-schemas.ts';

const POLICIES = '/frontdoor/{frontdoorId}/policies';
const ONE = `${POLICIES}/{policyId}`;
const byId = { uuidParameters: ['frontdoorId', 'policyId'] } as const;

export const policyOperations = [
  guarded({
    id: 'listPolicies',
    group: 'Policies',
    summary: 'List the shared policies',
    method: 'GET',
    path: POLICIES,
    query: [...paging('name', 'id', 'createdAt'), byName],
    answer: ok(countedPageSchema(policyEntrySchema)),
  }),
  guarded({
    id: 'createPolicy',
    group: 'Policies',
    summary: 'Create a shared policy, which shares can use instead of rules of their own',
    method: 'POST',
    path: POLICIES,
    body: newPolicySchema,
    answer: created(policySchema),
    refusals: [409],
  }),
  guarded({
    id: 'getPolicy',
    group: 'Policies',
    summary: 'Get a shared policy',
    method: 'GET',
    path: ONE,
    ...byId,
    answer: ok(policySchema),
    refusals: [404],
  }),
  guarded({
    id: 'replacePolicy',
    group: 'Policies',
    summary: 'Replace the rules of a shared policy, for all shares that use it',
    method: 'PUT',
    path: ONE,
    ...byId,
    body: policyReplacementSchema,
    answer: ok(policySchema),
    refusals: [404, 409],
  }),
  guarded({
    id: 'deletePolicy',
    group: 'Policies',
    summary: 'Delete a shared policy that no share uses',
    method: 'DELETE',
    path: ONE,
    ...byId,
    answer: gone,
    refusals: [404, 409],
  }),
  guarded({
    id: 'getPolicyUses',
    group: 'Policies',
    summary: 'Get the shares that use a shared policy; a policy that is in use cannot be deleted',
    method: 'GET',
    path: `${ONE}/uses`,
    ...byId,
    answer: ok(policyUsesSchema),
    refusals: [404],
  }),
  guarded({
    id: 'comparePolicy',
    group: 'Policies',
    summary:
      'Compare rules with those of a shared policy: list the latest recorded requests of its shares that they would decide differently',
    method: 'POST',
    path: `${ONE}/compare`,
    ...byId,
    scope: 'frontdoor.read',
    body: policyRulesSchema,
    answer: ok(policyUseComparisonSchema),
    refusals: [404],
  }),
] as const;
