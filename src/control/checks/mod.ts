/** Checks the bodies of requests against their schemas. */
export { BodyChecks, type BodyCheck } from './body-check.ts';
