/** Checks the bodies of requests against their schemas. */
export { bodyCheckOf, type BodyCheck } from './body-check.ts';
