/** The posture of machines, and the checks of it. */
export {
  mfaRemainingS,
  NO_TIMEOUT_S,
  postureFault,
  type MfaCheck,
  type Posture,
  type PostureCheck,
  type ReportedProcess,
} from './posture-policy.ts';
export { MAX_POSTURE_BYTES, SessionPosture, type PostureReport } from './session-posture.ts';
export { isVersionRange } from './version-range-policy.ts';
