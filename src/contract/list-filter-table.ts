/** The filters that several lists share. A list takes those that its entries have something for. */
import type { QueryParameter } from './operation.ts';

export const byName: QueryParameter = {
  name: 'name',
  type: 'string',
  isRequired: false,
  summary: 'Only those whose name contains this text; A to Z and a to z are alike',
};

export const byTime: readonly QueryParameter[] = [
  {
    name: 'from',
    type: 'date-time',
    isRequired: false,
    summary: 'Only those of this time or later, as a timestamp in ISO 8601',
  },
  {
    name: 'to',
    type: 'date-time',
    isRequired: false,
    summary: 'Only those of before this time, as a timestamp in ISO 8601',
  },
];

export const byEnvironment: QueryParameter = {
  name: 'environmentId',
  type: 'UUID',
  isRequired: false,
  summary: 'Only those of this environment',
};

export const byProvider: QueryParameter = {
  name: 'providerId',
  type: 'UUID',
  isRequired: false,
  summary: 'Only those that this auth provider guards',
};

export function byStatus(...values: readonly string[]): QueryParameter {
  return { name: 'status', type: 'string', isRequired: false, summary: 'Only those in this state', values };
}
