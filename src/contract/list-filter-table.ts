/** The filters that several lists share. A list has those filters that apply to its entries. */
import type { QueryParameter } from './operation.ts';
import { HOSTNAME_PROOFS } from './schemas/custom-frontend-schemas.ts';

export const byName: QueryParameter = {
  name: 'name',
  type: 'string',
  isRequired: false,
  summary: 'Only entries whose name contains this text; ASCII letters match in either case',
};

export const byProof: QueryParameter = {
  name: 'proof',
  type: 'string',
  isRequired: false,
  summary: 'Only those with this proof',
  values: HOSTNAME_PROOFS,
};

export const byTime: readonly QueryParameter[] = [
  {
    name: 'from',
    type: 'date-time',
    isRequired: false,
    summary: 'Only entries at or after this time, an ISO 8601 timestamp',
  },
  {
    name: 'to',
    type: 'date-time',
    isRequired: false,
    summary: 'Only entries before this time, an ISO 8601 timestamp',
  },
];

export const byEnvironment: QueryParameter = {
  name: 'environmentId',
  type: 'UUID',
  isRequired: false,
  summary: 'Only entries of this environment',
};

export const byTokens: QueryParameter = {
  name: 'tokens',
  type: 'list',
  isRequired: false,
  summary: 'Only the shares with these tokens, at most 100, with commas between them',
  maximum: 100,
};

export const byProvider: QueryParameter = {
  name: 'providerId',
  type: 'UUID',
  isRequired: false,
  summary: 'Only entries that this auth provider guards',
};

export const byPolicy: QueryParameter = {
  name: 'policyId',
  type: 'UUID',
  isRequired: false,
  summary: 'Only shares that use this policy',
};

export function byStatus(...values: readonly string[]): QueryParameter {
  return {
    name: 'status',
    type: 'string',
    isRequired: false,
    summary: 'Only entries with this status',
    values,
  };
}

/** A text in one of several fields, which the summary names. */
export function byText(fields: string): QueryParameter {
  return {
    name: 'text',
    type: 'string',
    isRequired: false,
    summary: `Only entries with this text in ${fields}; ASCII letters match in either case`,
  };
}

/** The class of the status that the client received. */
export const byStatusClass: QueryParameter = {
  name: 'statusClass',
  type: 'string',
  isRequired: false,
  summary: 'Only requests with a status of this class; none: without a response',
  values: ['2xx', '3xx', '4xx', '5xx', 'none'],
};

/** The order of lists that are sorted by time alone. */
export const newestOrOldest: QueryParameter = {
  name: 'sort',
  type: 'sort',
  isRequired: false,
  summary: 'at,direction: desc (the default) lists the newest first, asc the oldest; -at means at,desc',
  fields: ['at'],
};
