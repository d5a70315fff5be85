/** Operations on shared policies, as rows: rules of access with a name, which shares use instead of rules of their own. */
import { DATE_TIME_RULE, policyComparison, policyRules } from './management-row-access-table.ts';
import {
  BELOW_FRONTDOOR as BASE,
  countedPage,
  type AnswerShape,
  type ManagementRow,
  type RequestField,
} from './management-row.ts';

const POLICIES = `${BASE}/policies`;
const ONE = `${POLICIES}/{policyId}`;
const one = { uuid: 'policyId', missing: 'Policy' } as const;
const ofUsed = { at: { policyId: '{usedPolicyId}' }, ...one } as const;
const entry = {
  id: 'UUID',
  name: 'string',
  shareCount: 'integer',
  createdAt: 'time',
} as const satisfies AnswerShape;
const policy: AnswerShape = { ...entry, ...policyRules };
const denied = (...value: readonly string[]): RequestField => ({ value, type: 'array', isOptional: true });

export const policyRows: readonly ManagementRow[] = [
  {
    table: 'Shared policies',
    method: 'POST',
    path: POLICIES,
    body: {
      name: { value: 'staff', type: 'string' },
      ipDeny: denied('198.51.100.0/24'),
      expiresAt: {
        value: '2040-01-01T00:00:00Z',
        type: 'string',
        format: 'date-time',
        rule: DATE_TIME_RULE,
        isOptional: true,
      },
      rateLimit: { value: { requests: 10, per: 'PT1M' }, type: 'object', isOptional: true },
      session: { value: { idle: 'PT1H' }, type: 'object', isOptional: true },
    },
    status: 201,
    answer: policy,
    absent: ['warnings'],
    values: {
      name: 'staff',
      shareCount: 0,
      ipDeny: ['198.51.100.0/24'],
      expiresAt: '2040-01-01T00:00:00.000Z',
      session: { idle: 'PT1H', absolute: 'P7D' },
    },
    location: `${POLICIES}/`,
  },
  {
    table: 'Shared policies',
    method: 'GET',
    path: POLICIES,
    status: 200,
    answer: countedPage(entry),
    absent: ['ipDeny'],
    page: { isCounted: true, sort: ['name', 'id', 'createdAt'] },
  },
  {
    table: 'Shared policies',
    method: 'GET',
    path: ONE,
    at: { policyId: '{policyId}' },
    ...one,
    status: 200,
    answer: policy,
    values: { id: '{policyId}', name: 'read-by-row', shareCount: 0, ipDeny: ['198.51.100.0/24'] },
  },
  {
    table: 'Shared policies',
    method: 'PUT',
    path: ONE,
    at: { policyId: '{changedPolicyId}' },
    ...one,
    body: {
      name: { value: 'replaced-by-row', type: 'string', isOptional: true },
      allowPreflights: { value: true, type: 'boolean', isOptional: true },
    },
    status: 200,
    answer: policy,
    values: { id: '{changedPolicyId}', name: 'replaced-by-row', allowPreflights: true, ipDeny: [] },
  },
  {
    table: 'Shared policies',
    method: 'DELETE',
    path: ONE,
    at: { policyId: '{doomedPolicyId}' },
    ...one,
    status: 204,
  },
  {
    table: 'Shared policies',
    method: 'GET',
    path: `${ONE}/uses`,
    ...ofUsed,
    status: 200,
    answer: { shares: [{ token: 'string', environmentId: 'string' }], shareCount: 'integer' },
    values: {
      shares: [{ token: '{inspectedShareToken}', environmentId: '{environmentId}' }],
      shareCount: 1,
    },
  },
  {
    table: 'Shared policies',
    method: 'POST',
    path: `${ONE}/compare`,
    ...ofUsed,
    // The recorded request came from this machine.
    body: { ipDeny: denied('127.0.0.0/8', '::1/128') },
    status: 200,
    answer: {
      shareCount: 'integer',
      comparedShares: 'integer',
      compared: 'integer',
      unknown: 'integer',
      shares: [{ token: 'string', ...policyComparison }],
    },
    values: { shareCount: 1, comparedShares: 1, unknown: 0 },
  },
];
