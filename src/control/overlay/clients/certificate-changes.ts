/** Adding and removing certificates of existing identities, each with its audit event. */
import type { Identity } from '../model/overlay-model.ts';
import {
  addRenewedCertificate,
  dropOlderCertificates,
  type NewCertificate,
} from '../records/certificate-store.ts';
import type { Store } from '../../store/mod.ts';
import { appendMachineAudit, THE_SYSTEM, type AuditParts } from '../../audit/mod.ts';

export type CertificateParts = AuditParts & { readonly store: Store };

type Machine = Pick<Identity, 'id' | 'kind' | 'ownerId'>;

/**
 * Adds the certificate that renews the used one. Returns false if the used one is no longer valid, and adds
 * nothing.
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
      ownerId: machine.ownerId,
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

/** Removes the certificates that the one in use replaced and returns their number; 0 if it is the oldest itself. */
export function dropReplacedCertificates(
  parts: CertificateParts,
  machine: Machine,
  usedFingerprint: string,
): Promise<number> {
  return parts.store.transaction(async (trx, touch) => {
    const dropped = await dropOlderCertificates(trx, touch, machine.id, usedFingerprint);
    if (dropped.length === 0) return 0;
    await appendMachineAudit(trx, touch, parts, {
      ownerId: machine.ownerId,
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
