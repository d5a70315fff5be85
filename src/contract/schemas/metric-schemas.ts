/** Schemas of metrics and sparklines. Durations are ISO 8601, latencies are in milliseconds. */
import type { Static } from 'typebox';
import { Type } from '#base/shapes';
import { closed, nullable, oneOf, timestamp, uuid } from '../schema-parts.ts';

const count = () => Type.Integer({ minimum: 0 });
const ofClass = (name: string) =>
  Type.Integer({ minimum: 0, description: `The number of requests with a status of the class ${name}` });
const counts = () => ({
  requests: count(),
  errors: count(),
  status2xx: ofClass('2xx'),
  status3xx: ofClass('3xx'),
  status4xx: ofClass('4xx'),
  status5xx: ofClass('5xx'),
  bytesIn: count(),
  bytesOut: count(),
  latencyMs: closed({ p50: Type.Number(), p95: Type.Number(), p99: Type.Number() }),
});
const window = () => ({
  duration: Type.String(),
  step: Type.String(),
  start: timestamp(),
  end: timestamp(),
  totals: closed(counts()),
  samples: Type.Array(closed({ timestamp: timestamp(), ...counts() })),
});

export const frontdoorMetricsSchema = closed({ frontdoorId: uuid(), ...window() });
export type FrontdoorMetricsAnswer = Static<typeof frontdoorMetricsSchema>;

export const environmentMetricsSchema = closed({
  frontdoorId: uuid(),
  environmentId: Type.String(),
  ...window(),
});
export type EnvironmentMetricsAnswer = Static<typeof environmentMetricsSchema>;

export const shareMetricsSchema = closed({ frontdoorId: uuid(), shareToken: Type.String(), ...window() });
export type ShareMetricsAnswer = Static<typeof shareMetricsSchema>;

export const sparklinesSchema = closed({
  frontdoorId: uuid(),
  duration: Type.String(),
  step: Type.String(),
  start: timestamp(),
  sparklines: Type.Array(
    closed({
      scope: oneOf('frontdoor', 'environment', 'share'),
      id: Type.String(),
      name: Type.String(),
      requests: Type.Array(count()),
      errors: Type.Array(count()),
    }),
  ),
});
export type SparklinesAnswer = Static<typeof sparklinesSchema>;

export const busiestSharesSchema = closed({
  frontdoorId: uuid(),
  duration: Type.String(),
  start: timestamp(),
  end: timestamp(),
  shares: Type.Array(
    closed({
      token: Type.String(),
      name: nullable<string>({ type: 'string', description: 'The name of the share. Null if it has none.' }),
      ...counts(),
    }),
    { description: 'Shares that have requests in the window, the one with the most first' },
  ),
});
export type BusiestSharesAnswer = Static<typeof busiestSharesSchema>;
