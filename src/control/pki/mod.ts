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
  type LeafProof,
  type Pki,
  type ProvenLeaf,
} from './pki.ts';
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
