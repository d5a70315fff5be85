/** Whether the body of a request is what its schema says. */
export { BodyChecks, type BodyCheck } from './body-check.ts';
