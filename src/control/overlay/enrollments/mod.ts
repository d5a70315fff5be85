/** One-time enrollments of agents, identities and routers. */
export {
  type AgentEnrollmentRecord,
  listAgentEnrollments,
  lockAgentEnrollment,
} from './agent-enrollment-store.ts';
export {
  type Enrollment,
  type EnrollmentKind,
  MAX_REFUSED_CSRS,
  type OpenEnrollment,
  claimEnrollment,
  countOpenEnrollments,
  createEnrollment,
  deleteEnrollment,
  deleteEnrollmentsOfAuthority,
  deleteOpenEnrollment,
  deleteOpenEnrollments,
  findByCode,
  findByToken,
  mintJti,
  openEnrollmentsOf,
  pruneEnrollments,
  refuseCsr,
} from './enrollment-store.ts';
