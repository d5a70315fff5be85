/** Certificates as they come and go for identities that have one, each change with its audit event. */
import type { Identity } from '../model/mod.ts';
import {
  addRenewedCertificate,
  dropOlderCertificates,
  type NewCertificate,
  type Store,
} from '../store/mod.ts';
import { appendMachineAudit, THE_SYSTEM, type AuditParts } from './machine-audit.ts';

export type CertificateParts = AuditParts & { readonly store: Store };

type Machine = Pick<Identity, 'id' | 'kind' | 'frontdoorId'>;

/**
 * Adds what an identity was issued in place of the certificate that it used. False: that one does not count any more,
 * nothing was added.
 */
export function renewCertificate(
  parts: CertificateParts,
  machine: Machine,
  usedFingerprint: string,
  issued: NewCertificate,
  address: string | null,
): Promise<boolean> {
  return parts.store.transaction(async (trx, touch) => {
    const nowMs = parts.clock.nowMs();
    if (!(await addRenewedCertificate(trx, touch, machine.id, usedFingerprint, issued, nowMs))) return false;
    await appendMachineAudit(trx, touch, parts, {
      frontdoorId: machine.frontdoorId,
      actor: { kind: machine.kind, id: machine.id },
      action: 'renewCertificate',
      target: { kind: machine.kind, id: machine.id },
      before: { fingerprint: usedFingerprint },
      after: { fingerprint: issued.fingerprint, expiresAt: new Date(issued.notAfterMs).toISOString() },
      address,
    });
    return true;
  });
}

/** Drops what the certificate in use replaced. How many; 0 when it is itself the oldest. */
export function dropReplacedCertificates(
  parts: CertificateParts,
  machine: Machine,
  usedFingerprint: string,
): Promise<number> {
  return parts.store.transaction(async (trx, touch) => {
    const dropped = await dropOlderCertificates(trx, touch, machine.id, usedFingerprint);
    if (dropped.length === 0) return 0;
    await appendMachineAudit(trx, touch, parts, {
      frontdoorId: machine.frontdoorId,
      actor: THE_SYSTEM,
      action: 'dropReplacedCertificates',
      target: { kind: machine.kind, id: machine.id },
      before: { fingerprints: dropped },
      after: { fingerprints: [usedFingerprint] },
      address: null,
    });
    return dropped.length;
  });
}
