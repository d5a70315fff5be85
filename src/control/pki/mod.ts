/** The certificate authorities of the installation, and the certificates that they issue. */
export { authorityLimitsOf } from './authority-limits.ts';
export type { LoadedAuthorities } from './authority-generations.ts';
export {
  type AuthorityView,
  beginRotation,
  endSoon,
  issueSoon,
  readAuthorities,
} from './authority-rotation.ts';
export { readIfThere } from './authority-store.ts';
export {
  CLAIM_LOCATIONS,
  CLAIM_MATCHERS,
  CLAIM_PARSERS,
  type CertificateClaim,
  externalIdOf,
} from './certificate-claim.ts';
export {
  type Generation,
  INTERMEDIATE,
  type Rotation,
  kindOf as generationKindOf,
  nextRotationStep,
  rotationAt,
} from './generation-policy.ts';
export { endsPath, nearestIssuer, pathAbove } from './issuing-path.ts';
export { FOREIGN_LIFETIME_DAYS, type IssuedCertificate, OWN_LIFETIME_DAYS } from './issued-certificates.ts';
export type { LeafProof, ProvenLeaf } from './leaf-proof.ts';
export { type Pki, openPki } from './pki.ts';
export { BACKDATE_MS } from './server-leaf.ts';
export {
  commonNameOf,
  isForClients,
  isIssuedBy,
  isValidAt,
  keyValidAt,
  readCertificate,
  thirdPartyLeaf,
} from './third-party-certificate.ts';
