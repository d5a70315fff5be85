/** The audit trail: writing, chaining, reading, following and verifying events. */
export type { AuditEntry, AuditTarget } from './audit-entry.ts';
export { AuditFollowers } from './audit-followers.ts';
export { auditEventCount, lastSequence, listAudit, type AuditFilter } from './audit-reading.ts';
export { appendAudit, appendAuditAll, earlyHead, type AuditRow } from './audit-store.ts';
export { verifyAudit } from './audit-verification.ts';
export { dropReplacedCertificates, renewCertificate, type CertificateParts } from './certificate-changes.ts';
export { LogInLedger } from './log-in-ledger.ts';
export { appendMachineAudit, THE_SYSTEM, type AuditParts } from './machine-audit.ts';
export { RefusalRecorder, UNPROVEN } from './refusal-recorder.ts';
export { reasonOf, refusedIdentity } from './refused-identity.ts';
export { frontendEndpointsOf, shareRecordView, storedShareOf, type FrontendUrls } from './share-view.ts';
