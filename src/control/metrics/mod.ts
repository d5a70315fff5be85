/** Traffic metrics: stored in slices, read as series, and deleted after their retention time. */
export {
  busiestLines,
  environmentLines,
  environmentTraffic,
  shareLines,
  shareTraffic,
  frontdoorLine,
  frontdoorTraffic,
  sumOf,
} from './metric-reader.ts';
export { takeTrafficReport } from './metric-store.ts';
export { MetricSweep } from './metric-sweep.ts';
export {
  MAX_DURATION_MS,
  metricWindow,
  MIN_DURATION_MS,
  MIN_STEP_MS,
  sparklineWindow,
  type MetricWindow,
} from './metric-window-policy.ts';
