/** The filters that several lists share. A list has those filters that apply to its entries. */
import type { QueryParameter } from './operation.ts';

export const byName: QueryParameter = {
  name: 'name',
  type: 'string',
  isRequired: false,
  summary: 'Only entries whose name contains this text; ASCII letters match in either case',
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

export const byProvider: QueryParameter = {
  name: 'providerId',
  type: 'UUID',
  isRequired: false,
  summary: 'Only entries that this auth provider guards',
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
