/** The certificate authorities of the installation, and the certificates that they issue. */
export { readIfThere } from './authority-store.ts';
export {
  CLAIM_LOCATIONS,
  CLAIM_MATCHERS,
  CLAIM_PARSERS,
  externalIdOf,
  type CertificateClaim,
} from './certificate-claim.ts';
export { authorityLimitsOf } from './authority-limits.ts';
export {
  FOREIGN_LIFETIME_DAYS,
  openPki,
  OWN_LIFETIME_DAYS,
  type IssuedCertificate,
  type Pki,
} from './pki.ts';
export type { LeafProof, ProvenLeaf } from './leaf-proof.ts';
export { BACKDATE_MS, type ServerCredentials } from './server-leaf.ts';
export {
  commonNameOf,
  isForClients,
  isIssuedBy,
  isValidAt,
  keyValidAt,
  readCertificate,
  thirdPartyLeaf,
} from './third-party-certificate.ts';
export { endsPath, nearestIssuer, pathAbove, type IssuingPath } from './issuing-path.ts';
export {
  beginRotation,
  endSoon,
  issueSoon,
  readAuthorities,
  type AuthorityView,
} from './authority-rotation.ts';
export {
  INTERMEDIATE as FIRST_INTERMEDIATE,
  nextRotationStep,
  rotationAt as rotationStepAt,
} from './generation-policy.ts';
export { cutOffByNextStep, dropFormerCertificates, noteRootReceipt } from './root-receipts.ts';
