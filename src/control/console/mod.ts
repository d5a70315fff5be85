/** The console's half at the control plane: log-in, invitations, sessions and their pages. */
export type { OwnAddress } from './console-origin.ts';
export { consoleOf } from './console.ts';
