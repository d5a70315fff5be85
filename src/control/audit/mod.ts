/** The audit trail: writing, chaining, reading, following and verifying events. */
export type { AuditEntry, AuditTarget } from './audit-entry.ts';
export {
  type AuditExportStart,
  auditExportLag,
  auditToExport,
  endAuditExport,
  noteAuditExported,
  startAuditExport,
} from './audit-export.ts';
export { AuditFollowers } from './audit-followers.ts';
export { type AuditFilter, auditEventCount, lastSequence, listAudit, searchAudit } from './audit-reading.ts';
export { type AuditRow, appendAudit, appendAuditAll, earlyHead } from './audit-store.ts';
export { verifyAudit } from './audit-verification.ts';
export { LogInLedger } from './log-in-ledger.ts';
export { type AuditParts, THE_SYSTEM, appendMachineAudit, organizationOf } from './machine-audit.ts';
export { type RecordedRefusal, RefusalRecorder, UNPROVEN } from './refusal-recorder.ts';
