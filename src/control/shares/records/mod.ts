/** The rows of frontdoors, environments, shares, frontends, names, providers and policies. */
export { PolicyCheck } from './policy-check.ts';
export { RequestLogSweep } from './request-log-sweep.ts';
export { RequestRecordSweep } from './request-record-sweep.ts';
export { RestingNameSweep } from './resting-name-sweep.ts';
export type { FirstStart } from './first-rows.ts';
export { seedFirstStart } from './first-start.ts';
