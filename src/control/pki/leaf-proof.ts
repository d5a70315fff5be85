/** Whether a peer's leaf is of one of our intermediates, and the role that it proves. The model decides whether it counts. */
import { createHash, type X509Certificate } from 'node:crypto';
import { validityProblem } from '#base';
import { fingerprintOf } from '#net/channel';

export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/**
 * A leaf that our authority issued and that is valid now, or one of another party that an identity enrolled with. The model
 * knows whether it still belongs to an identity.
 */
export interface ProvenLeaf {
  readonly fingerprint: string;
  readonly spkiSha256: string;
  readonly role: 'identity' | 'router';
  readonly id: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** The name of our intermediate that issued it; undefined for one of another party. */
  readonly issuer?: string;
  /** Set if another party issued it, so that it is not renewed here. */
  readonly isThirdParty?: true;
  /** The authority of another party that names the identity in the certificate, which is not stored then. */
  readonly authorityId?: string | undefined;
}

export type LeafProof =
  | { readonly leaf: ProvenLeaf }
  | {
      readonly problem: string;
      /**
       * Set for a leaf of our authority for that identity that is expired or not valid yet, so that its holder is
       * still known.
       */
      readonly outOfDate?: ProvenLeaf;
    };

export interface LeafIssuer {
  readonly name: string;
  readonly certificate: X509Certificate;
}

/** Only the leaf counts; other certificates of the peer's chain are ignored. */
export function proveLeaf(
  leaf: X509Certificate,
  issuers: { readonly intermediates: readonly LeafIssuer[]; readonly ended: readonly LeafIssuer[] },
  trustDomain: string,
  nowMs: number,
): LeafProof {
  const isBy = ({ certificate }: LeafIssuer): boolean =>
    leaf.checkIssued(certificate) && leaf.verify(certificate.publicKey);
  const issuer = leaf.ca ? undefined : issuers.intermediates.find(isBy);
  if (issuer === undefined) {
    const isFormer = !leaf.ca && issuers.ended.some(isBy);
    return {
      problem: isFormer
        ? 'the authority of the certificate was replaced and has ended: enroll again'
        : 'certificate is not of this control plane',
    };
  }
  const notBeforeMs = Date.parse(leaf.validFrom);
  const notAfterMs = Date.parse(leaf.validTo);
  if (!(leaf.keyUsage ?? []).includes(CLIENT_AUTH)) return { problem: 'certificate is not for clients' };
  const roles = (leaf.subjectAltName ?? '').split(', ').filter((name) => name.startsWith('URI:spiffe:'));
  const prefix = `URI:spiffe://${trustDomain}/`;
  const [role, id, more] =
    roles[0]?.startsWith(prefix) === true ? roles[0].slice(prefix.length).split('/') : [];
  if (roles.length !== 1 || (role !== 'identity' && role !== 'router') || !id || more !== undefined) {
    return { problem: 'certificate names no role' };
  }
  const fingerprint = fingerprintOf(leaf);
  const spkiSha256 = spkiSha256Of(leaf);
  const proven = { fingerprint, spkiSha256, role, id, notBeforeMs, notAfterMs, issuer: issuer.name } as const;
  const problem = validityProblem({ fromMs: notBeforeMs, untilMs: notAfterMs }, nowMs);
  if (problem !== undefined) return { problem: `certificate ${problem}`, outOfDate: proven };
  return { leaf: proven };
}

export function spkiSha256Of(certificate: X509Certificate): string {
  return createHash('sha256')
    .update(certificate.publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}
