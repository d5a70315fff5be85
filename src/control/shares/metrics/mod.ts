/** Traffic metrics: stored in slices, read as series, and deleted after their retention time. */
export { MetricSweep } from './metric-sweep.ts';
